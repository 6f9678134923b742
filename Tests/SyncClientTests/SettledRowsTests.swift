import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import SyncProtocol
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// What nobody has changed since a purge has no record, and merges as if it had one.
@MainActor @Suite struct SettledRowsTests {
  private nonisolated static let floor = Stamp(milliseconds: 1_700_000_100_000, counter: 0, replica: ReplicaID(0))
  private nonisolated static let later = Stamp(milliseconds: 1_900_000_000_000, counter: 0, replica: ReplicaID(9))
  private nonisolated static let thing = ObjectIdentity("Thing", .int(1))

  /// A replica whose one object is purged.
  private func purged(_ engine: Engine, _ directory: TemporaryDirectory) async throws -> SimulatedReplica {
    let replica = try SimulatedReplica(1, engine.configuration(directory, "a"), time: SimulatedTime())
    try replica.store.write {
      let thing = Thing()
      (thing.id, thing.x, thing.n) = (1, "mine", 7)
      try replica.store.add(thing)
      thing.texts.append("one")
    }
    replica.time.pass(200_000)
    try await replica.take([.own(clientSeq: 1), .purge(Purge(stable: Seq(1), floor: SettledRowsTests.floor))], from: 1)
    return replica
  }

  private func records(_ replica: SimulatedReplica) async throws -> Int {
    try await replica.reading { sides in
      var count = 0
      try sides.sides(from: [UInt8(ascii: "m")], below: [UInt8(ascii: "n")]) { _, _ in
        count += 1
        return .proceed
      }
      return count
    }
  }

  private func remote(_ action: SyncModel.Operation.Action, _ path: [PathStep] = []) -> LogEntry.Body {
    .changeset(
      author: "ann",
      Changeset(
        clientSeq: 1, baseSeq: Seq(2), first: SettledRowsTests.later,
        operations: [SyncModel.Operation(SettledRowsTests.thing, epoch: .zero, path: path, action)]))
  }

  private func one(_ replica: SimulatedReplica) throws -> Thing? { try replica.store.object(Thing.self, forPrimaryKey: 1) }

  @Test(arguments: Engine.allCases)
  func `after a purge an object has no record, where rows are the library's alone`(engine: Engine) async throws {
    let directory = TemporaryDirectory("settled")
    let replica = try await purged(engine, directory)
    #expect(try await records(replica) == (engine == .sqlite ? 1 : 0))
    let look = try await replica.check()
    #expect(look.file.objects["Thing(1)"]?["x"] == "mine")
  }

  @Test(arguments: [Engine.memory, .lmdb]) func `what is written to it later becomes the same operations`(engine: Engine) async throws {
    let directory = TemporaryDirectory("settled")
    let replica = try await purged(engine, directory)
    try replica.store.write {
      let thing = try #require(try one(replica))
      (thing.x, thing.n) = ("other", 7)
      thing.x = "mine"
    }
    try replica.store.write { try one(replica)?.n = 8 }
    try replica.store.write { try one(replica)?.increment(\.rank) }
    try replica.store.write { try one(replica)?.texts.removeAll() }
    let made = try await replica.check().bearing.pending.all.flatMap { $0.changeset.operations.map(\.action) }
    #expect(made == [.set("n", .int(8), isDefault: false), .add("rank", 1), .clear])
  }

  @Test func `a delete is one delete, and the same key in the same write another object`() async throws {
    let directory = TemporaryDirectory("settled")
    let replica = try await purged(.memory, directory)
    try replica.store.write {
      try replica.store.delete(try #require(try one(replica)))
      let thing = Thing()
      thing.id = 1
      try replica.store.add(thing)
    }
    let made = try await replica.check().bearing.pending.all.flatMap { $0.changeset.operations.map(\.action) }
    #expect(made == [.delete, .create, .set("rank", .int(5), isDefault: true)])
    #expect(try one(replica)?.texts.count == 0)
  }

  @Test func `another replica's object without a primary key is deleted like any`() async throws {
    let directory = TemporaryDirectory("settled")
    let replica = try await purged(.memory, directory)
    let plain = ObjectIdentity("Plain", .created(ReplicaID(9), ObjectKey(40)))
    let first = Stamp(milliseconds: 1_700_000_100_001, counter: 0, replica: ReplicaID(9))
    let changeset = Changeset(
      clientSeq: 1, baseSeq: Seq(2), first: first,
      operations: [
        SyncModel.Operation(plain, epoch: .zero, .create),
        SyncModel.Operation(plain, epoch: .zero, .set("name", .string("theirs"), isDefault: false)),
      ])
    try await replica.take(
      [.changeset(author: "ann", changeset), .purge(Purge(stable: Seq(3), floor: first.advanced(by: 1)))], from: 3)
    #expect(try await records(replica) == 0)
    let store = try replica.store
    try store.write { try store.delete(try #require(store.objects(Plain.self).first)) }
    let made = try await replica.check().bearing.pending.all.flatMap { $0.changeset.operations.map(\.action) }
    #expect(made == [.delete])
  }

  @Test func `others' changes are merged with what the row says`() async throws {
    let directory = TemporaryDirectory("settled")
    let replica = try await purged(.memory, directory)
    // A default loses to what was written before the purge, and wins against a default.
    try await replica.take([remote(.set("n", .int(1), isDefault: true)), remote(.set("rank", .int(6), isDefault: true))], from: 3)
    try await replica.take([remote(.add("n", 3))], from: 5)
    let look = try await replica.check()
    let shown = try #require(look.file.objects["Thing(1)"])
    #expect((shown["n"], shown["rank"], shown["x"], shown["texts"]) == ("10", "6", "mine", "[one]"))
    try await replica.take([remote(.delete)], from: 6)
    #expect(try await replica.check().file.objects.isEmpty)
  }

  @Test func `all objects from the server take its place`() async throws {
    let directory = TemporaryDirectory("settled")
    let replica = try await purged(.memory, directory)
    try await replica.store.integrate { write in
      var changes = try RemoteChanges(write)
      let floor = Stamp(milliseconds: 1_700_000_100_000, counter: 0, replica: ReplicaID(0))
      let page = StatePage(
        asOf: Seq(2), stable: Seq(1), floor: floor, latest: floor, objects: [], next: [],
        isLast: true)
      let bound = Bound(
        mode: .snapshot, rights: [.read, .write], history: [], head: Seq(2), stable: Seq(1), judged: 1, judgedStamp: .zero, refusal: .zero,
        refused: [], schemaHash: 0, credit: 0)
      try changes.take([page], bound, isAll: true, wall: 0)
      try changes.finish()
    }
    #expect(try await replica.check().file.objects.isEmpty)
  }
}

extension SimulatedReplica {
  /// Takes entries in, numbered from the given one on.
  func take(_ bodies: [LogEntry.Body], from first: UInt64) async throws {
    try await store.integrate { write in
      var changes = try RemoteChanges(write)
      for (index, body) in bodies.enumerated() { try changes.take(LogEntry(Seq(first + UInt64(index)), body)) }
      try changes.finish()
    }
    try store.refresh()
  }
}
