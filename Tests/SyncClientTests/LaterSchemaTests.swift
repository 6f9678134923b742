import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import SyncProtocol
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// The types of a program that has not been updated yet.
private enum Earlier {
  @Model final class Plain {
    var name: String?
  }
}

/// What others write of types and properties that a file does not have yet.
@MainActor @Suite struct LaterSchemaTests {
  @Test(arguments: [Engine.lmdb, .sqlite]) func `it is kept, and shown once the schema has them`(engine: Engine) async throws {
    let directory = TemporaryDirectory("schema")
    let later = engine.configuration(directory, "a")
    var earlier = later
    earlier.models = [Earlier.Plain.self]
    let thing = ObjectIdentity("Thing", .int(1))
    let plain = ObjectIdentity("Plain", .created(ReplicaID(9), ObjectKey(1)))
    do {
      let replica = try SimulatedReplica(1, earlier, time: SimulatedTime())
      let stamp = Stamp(milliseconds: 1_600_000_000_000, counter: 0, replica: ReplicaID(9))
      let texts = [PathStep(.list("texts"), epoch: .zero)]
      let operations: [SyncModel.Operation] = [
        .init(thing, epoch: .zero, .create), .init(thing, epoch: .zero, .set("x", .string("theirs"), isDefault: false)),
        .init(
          thing, epoch: .zero, path: texts,
          .insert(ElementID(ReplicaID(9), 1), at: ListPosition([.init(gap: 0, bunch: stamp)]), .string("a"))),
        .init(plain, epoch: .zero, .create), .init(plain, epoch: .zero, .set("name", .string("known"), isDefault: false)),
        .init(plain, epoch: .zero, .set("thing", .link(LinkTarget(thing)), isDefault: false)),
      ]
      let changeset = Changeset(clientSeq: 1, baseSeq: .zero, first: stamp, operations: operations)
      try await replica.take([.changeset(author: "ann", changeset)], from: 1)
      #expect(try replica.store.objects(Earlier.Plain.self).map(\.name) == ["known"])
    }
    let replica = try SimulatedReplica(1, later, time: SimulatedTime())
    let store = try replica.store
    #expect(store.object(Thing.self, forPrimaryKey: 1)?.x == "theirs")
    #expect(store.object(Thing.self, forPrimaryKey: 1).map { Array($0.texts) } == ["a"])
    #expect(store.objects(Plain.self).first?.thing?.id == 1)
    let look = try await replica.check()
    #expect(look.bearing.pending.all.isEmpty)
  }
}
