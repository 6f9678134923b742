import StoreValues
import SyncClient
import SyncModel
import SyncProtocol
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// Changes that build on a refused one, until they are answered.
@MainActor @Suite struct VoidChangeTests {
  @Test(arguments: Engine.allCases) func `a link to a refused incarnation is shown as it is merged, after a purge too`(
    engine: Engine
  ) async throws {
    let directory = TemporaryDirectory("void")
    let replica = try SimulatedReplica(1, engine.configuration(directory, "a"), time: SimulatedTime())
    let object = ObjectIdentity("Thing", .int(1))
    let theirs = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_600_000_000_000, counter: 0, replica: ReplicaID(9)),
      operations: [SyncModel.Operation(object, epoch: .zero, .create)])
    try await replica.take([.changeset(author: "ann", theirs)], from: 1)
    let store = try replica.store
    let thing = Thing()
    thing.id = 1
    try store.write {
      try store.delete(try #require(store.object(Thing.self, forPrimaryKey: 1)))
      try store.add(thing)
    }
    let plain = Plain()
    plain.thing = thing
    try store.write { try store.add(plain) }
    var server = MemoryState()
    Merge.apply(theirs, seq: Seq(1), to: &server)
    let states = [object: Merge.objectState(of: object, in: server)]
    try await replica.take([.refusal(clientSeq: 1, code: .writeDenied, text: "", states: states)], from: 2)
    let refused = try await replica.check()
    #expect(refused.bearing.pending.all.map(\.isVoid) == [true])
    let floor = Stamp(milliseconds: 1_800_000_000_000, counter: 0, replica: ReplicaID(9))
    try await replica.take([.purge(Purge(stable: Seq(1), floor: floor))], from: 3)
    try await replica.check()
    withExtendedLifetime(directory) {}
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func `what is written between two entries of a refusal is void if it builds on the refused`(
    engine: Engine
  ) async throws {
    let directory = TemporaryDirectory("void")
    let replica = try SimulatedReplica(1, engine.configuration(directory, "a"), time: SimulatedTime())
    let objects = (1...2).map { ObjectIdentity("Thing", .int($0)) }
    let theirs = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_600_000_000_000, counter: 0, replica: ReplicaID(9)),
      operations: [SyncModel.Operation(objects[0], epoch: .zero, .create)])
    try await replica.take([.changeset(author: "ann", theirs)], from: 1)
    do {
      let store = try replica.store
      let new = Thing()
      new.id = 2
      try store.write {
        try #require(store.object(Thing.self, forPrimaryKey: 1)).x = "mine"
        try store.add(new)
      }
    }
    var server = MemoryState()
    Merge.apply(theirs, seq: Seq(1), to: &server)
    let states = [objects[0]: Merge.objectState(of: objects[0], in: server)]
    try await replica.take([.refusal(clientSeq: 1, code: .writeDenied, text: "", states: states)], from: 2)
    try replica.restart()
    do {
      let store = try replica.store
      #expect(store.object(Thing.self, forPrimaryKey: 1)?.x == nil)
      try store.write { try #require(store.object(Thing.self, forPrimaryKey: 2)).x = "more" }
    }
    #expect(try await replica.check().bearing.pending.all.map(\.isVoid) == [true, false])
    try await replica.take([.refusal(clientSeq: 1, code: .writeDenied, text: "", states: [objects[1]: nil])], from: 3)
    let pending = try await replica.check().bearing.pending.all
    #expect(pending.map(\.changeset.clientSeq) == [2] && pending.map(\.isVoid) == [true])
    #expect(try replica.store.object(Thing.self, forPrimaryKey: 2) == nil)
    withExtendedLifetime(directory) {}
  }
}
