import StoreValues
import SyncClient
import SyncModel
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

@Model private final class Counter {
  @PrimaryKey var id = 0
  var hits: Int?
  var seen: Int64?
}

@MainActor @Suite struct OptionalIncrementTests {
  @Test func `an optional is added to like any number, and nil stays nil`() async throws {
    let directory = TemporaryDirectory("increments")
    var configuration = Engine.memory.configuration(directory, "a")
    configuration.models = [Counter.self]
    let replica = try SimulatedReplica(1, configuration, time: SimulatedTime())
    let store = try replica.store
    let counter = Counter()
    counter.increment(\.hits)
    #expect(counter.hits == nil)
    counter.seen = 1
    counter.increment(\.seen, by: 2)
    #expect(counter.seen == 3)
    try store.write { try store.add(counter) }
    try store.write {
      counter.increment(\.hits)
      counter.increment(\.seen, by: 4)
    }
    #expect((counter.hits, counter.seen) == (nil, 7))
    let made = try await replica.bearing().pending.all.flatMap { $0.changeset.operations.map(\.action) }
    #expect(made == [.create, .set("seen", .int(3), isDefault: false), .add("seen", 4)])
    withExtendedLifetime(directory) {}
  }
}
