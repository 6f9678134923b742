import Dispatch
import Foundation
import Observation
import StorageInterface
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What a store that has no context says to who observes it, and how one gets a context.
@Suite struct MuteStoreTests {
  private static func configuration() -> StoreConfiguration {
    StoreConfiguration.reference(UUID().uuidString, models: [Person.self, Dog.self])
  }

  @Test func observingWhereNobodyWouldTellIsAnErrorAtOnce() throws {
    let store = try Store(Self.configuration())
    var heard: [StoreError.Code] = []
    let token = store.objects(Dog.self).observe { change in if case .error(let error) = change { heard.append(error.code) } }
    #expect(heard == [.wrongContext] && !token.isActive)
    let person = Person(name: "Jane", age: 30)
    try store.write { try store.add(person) }
    let object = person.observe { change in if case .error(let error) = change { heard.append(error.code) } }
    let list = person.dogs.observe { change in if case .error(let error) = change { heard.append(error.code) } }
    let count = store.objects(Dog.self).observe(.count) { change in if case .error(let error) = change { heard.append(error.code) } }
    #expect(heard == Array(repeating: .wrongContext, count: 4))
    #expect(!object.isActive && !list.isActive && !count.isActive)
  }

  @Test func itIsNoneWhereThatWasAskedFor() throws {
    let store = try Store(Self.configuration().byHand)
    var counts: [Int] = []
    let token = store.objects(Dog.self).observe { counts.append($0.collection?.count ?? -1) }
    #expect(counts.isEmpty)
    store.refresh()
    try store.write { try store.add(Dog(name: "Rex")) }
    store.refresh()
    #expect(counts == [0, 1])
    token.stop()
  }

  @Test func onAQueueOrAnActorItIsTheirs() async throws {
    let store = try Store(Self.configuration())
    let (queue, done) = (DispatchQueue(label: "mute"), AsyncSignal())
    let token = store.objects(Dog.self).observe(on: queue) { change in
      if change.collection?.count == 1 { done.fire() }
    }
    try store.write { try store.add(Dog(name: "Rex")) }
    await done.wait()
    token.stop()
  }

  @Test @MainActor func aStoreOfAFactoryIsOfItsCaller() async throws {
    func make(isolation: isolated (any Actor)? = #isolation) throws -> Store { try Store(Self.configuration(), isolation: isolation) }
    let store = try make()
    var counts: [Int] = []
    let token = store.objects(Dog.self).observe { counts.append($0.collection?.count ?? -1) }
    try store.write { try store.add(Dog(name: "Rex")) }
    try await store.waitUntilNotified()
    #expect(counts.last == 1)
    token.stop()
  }

  @Test @MainActor func readsAreTrackedWhereInterfacesAreDrawn() throws {
    let store = try Store(Self.configuration())
    #expect(store.tracksReads)
    let changes = Mutex(0)
    withObservationTracking { _ = store.objects(Dog.self).count } onChange: { changes.withLock { $0 += 1 } }
    try store.write { try store.add(Dog(name: "Rex")) }
    #expect(changes.withLock { $0 } == 1)
  }

  @Test func readsAreNotTrackedElsewhere() throws {
    let queue = DispatchQueue(label: "drawn by nobody")
    let isTracked = try queue.sync { try Store(Self.configuration(), queue: queue).tracksReads }
    #expect(!isTracked)
    #expect(try !Store(Self.configuration()).tracksReads)
  }

  @Test @MainActor func whatAnAwaitedWriteOfTheConfigurationWroteIsSeen() async throws {
    let configuration = Self.configuration()
    let (store, other) = (try Store(configuration), try Store(configuration))
    for count in 1...20 {
      try await configuration.write { store in try store.add(Dog(name: "Rex")) }
      #expect(store.objects(Dog.self).count == count && other.objects(Dog.self).count == count)
    }
  }

  @Test @MainActor func awaitedWritesBesideOthersAllReturn() async throws {
    let configuration = Self.configuration()
    let store = try Store(configuration)
    let token = store.objects(Dog.self).observe { _ in }
    let (queue, done) = (DispatchQueue(label: "beside"), AsyncSignal())
    let elsewhere = store.objects(Dog.self).observe(on: queue) { change in if change.collection?.count == 180 { done.fire() } }
    let writers = (0..<4).map { _ in
      Task { @MainActor in
        for _ in 0..<30 { try await configuration.write { store in try store.add(Dog(name: "Rex")) } }
      }
    }
    for _ in 0..<60 {
      try store.write { try store.add(Dog(name: "Ann")) }
      await Task.yield()
    }
    for writer in writers { try await writer.value }
    #expect(store.objects(Dog.self).count == 180)
    await done.wait()
    token.stop()
    elsewhere.stop()
  }
}
