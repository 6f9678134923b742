import ChangeTracker
import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// Remote changes are ordinary commits, on every engine.
@MainActor @Suite struct IntegrationTests {
  @Test(arguments: Engine.allCases) func `replicas that exchange changesets both ways are equal at rest`(engine: Engine) async throws {
    var random = SeededGenerator.forTest(#function + engine.rawValue)
    for _ in 0..<environmentNumber("VIVARIUM_SYNC_RUNS", default: 2) {
      let directory = TemporaryDirectory("sync")
      let replicas = [
        try Replica(1, engine.configuration(directory, "a")), try Replica(2, engine.configuration(directory, "b")),
      ]
      var made: [[Changeset]] = [[], []]
      var taken = [0, 0]
      for _ in 0..<60 {
        let index = random.below(2)
        if !random.oneIn(3) {
          if let changeset = try await replicas[index].edit(&random) { made[index].append(changeset) }
        } else {
          let waiting = made[1 - index].dropFirst(taken[index])
          let some = Array(waiting.prefix(1 + random.below(4)))
          taken[index] += some.count
          if !some.isEmpty { try await replicas[index].integrate(some.map { try Changeset(decoding: $0.encoded()) }) }
        }
      }
      for index in 0..<2 { try await replicas[index].integrate(Array(made[1 - index].dropFirst(taken[index]))) }
      let (a, b) = (replicas[0].picture(), replicas[1].picture())
      #expect(a == b, "\(a.difference(from: b))")
      withExtendedLifetime(directory) {}
    }
  }

  @Test func `observers are told the difference and nothing else`() async throws {
    var random = SeededGenerator.forTest()
    let directory = TemporaryDirectory("sync")
    let author = try Replica(1, Engine.memory.configuration(directory, "a"))
    let reader = try Replica(2, Engine.memory.configuration(directory, "b"))
    let observer = ReplayedResults(reader.store)
    for _ in 0..<150 {
      guard let changeset = try await author.edit(&random) else { continue }
      try await reader.integrate([changeset])
      reader.store.refresh()
      try observer.check("")
    }
    #expect(observer.calls > 10)
  }

  private func changeset(_ replica: UInt64, _ time: UInt64, _ operations: [(ObjectIdentity, SyncModel.Operation.Action)]) -> Changeset {
    Changeset(
      clientSeq: time, baseSeq: .zero, first: Stamp(time: time << 16, replica: ReplicaID(replica)),
      operations: operations.map { SyncModel.Operation($0.0, epoch: .zero, $0.1) })
  }

  private let one = ObjectIdentity("Thing", .int(1))

  @Test func `a losing operation and a moved cursor are told to nobody`() async throws {
    let directory = TemporaryDirectory("sync")
    let replica = try Replica(9, Engine.memory.configuration(directory, "a"))
    try await replica.integrate([changeset(1, 50, [(one, .create), (one, .set("x", .string("later"), isDefault: false))])], seq: Seq(1))
    replica.store.refresh()
    var told: [String] = []
    let thing = try #require(replica.store.objects(Thing.self).first)
    let tokens = [
      replica.store.observe { _, _ in told.append("store") },
      replica.store.objects(Thing.self).observe { if case .update = $0 { told.append("results") } },
      thing.observe { _ in told.append("object") },
    ]
    replica.store.refresh()
    told = []
    let version = replica.store.version
    try await replica.integrate([changeset(2, 40, [(one, .set("x", .string("earlier"), isDefault: false))])], seq: Seq(2))
    replica.store.refresh()
    #expect(told == [] && thing.x == "later" && replica.store.version > version)
    #expect(try replica.store.commits(since: version).isEmpty)
    #expect(try await cursor(of: replica) == Seq(2))
    try await replica.integrate([changeset(2, 60, [(one, .set("x", .string("last"), isDefault: false))])], seq: Seq(3), author: "Ann")
    replica.store.refresh()
    #expect(Set(told) == ["store", "results", "object"] && thing.x == "last")
    #expect(try replica.store.commits(since: version).map(\.author) == ["Ann"])
    withExtendedLifetime(tokens) {}
  }

  private func cursor(of replica: Replica) async throws -> Seq {
    try await replica.store.integrate { write in try SyncCursor.read(try #require(write.transaction.powers.sides)) }
  }

  @Test(arguments: Engine.allCases) func `what the schema cannot hold is an error and integrates nothing`(engine: Engine) async throws {
    let directory = TemporaryDirectory("sync")
    let replica = try Replica(9, engine.configuration(directory, "a"))
    try await replica.integrate([changeset(1, 50, [(one, .create)])], seq: Seq(1))
    let bad = changeset(
      1, 60, [(one, .set("x", .string("new"), isDefault: false)), (one, .set("n", .string("no number"), isDefault: false))])
    await #expect {
      try await replica.integrate([bad], seq: Seq(2))
    } throws: { ($0 as? StoreError)?.code.rawValue == "schemaMismatch" }
    replica.store.refresh()
    #expect(replica.store.objects(Thing.self).first?.x == nil)
    #expect(try await cursor(of: replica) == Seq(1))
    // What nobody here knows is merged, and not shown.
    let unknown = changeset(1, 70, [(one, .set("unknown", .int(1), isDefault: false)), (ObjectIdentity("Other", .int(1)), .create)])
    try await replica.integrate([unknown], isCompared: false)
    replica.store.refresh()
    #expect(replica.store.objects(Thing.self).count == 1)
  }

  @Test func `damaged changesets are errors and integrate nothing`() async throws {
    let bytes = changeset(1, 50, [(one, .create), (one, .set("x", .string("x"), isDefault: false))]).encoded()
    for end in 0..<bytes.count {
      #expect(throws: CodingError.self) { try Integration.decoded([bytes, Array(bytes[..<end])]) }
    }
    #expect(try Integration.decoded([bytes]).count == 1)
  }

  @Test func `a later link to an earlier incarnation takes a member out of a set`() async throws {
    let directory = TemporaryDirectory("sync")
    let replica = try Replica(9, Engine.memory.configuration(directory, "a"))
    let two = ObjectIdentity("Thing", .int(2))
    try await replica.integrate([changeset(1, 50, [(one, .create), (two, .create), (two, .delete)])])
    // The third operation of the changeset above.
    let deleted = Stamp(time: 50 << 16 + 2, replica: ReplicaID(1))
    func insert(_ epoch: Stamp, _ time: UInt64) -> Changeset {
      let set = PathStep(.set("circle"), epoch: .zero)
      let operations = [
        SyncModel.Operation(two, epoch: deleted, .create),
        SyncModel.Operation(one, epoch: .zero, path: [set], .insertMember(.link(LinkTarget(two, epoch: epoch)))),
      ]
      return Changeset(clientSeq: time, baseSeq: .zero, first: Stamp(time: time << 16, replica: ReplicaID(1)), operations: operations)
    }
    try await replica.integrate([insert(deleted, 60)])
    replica.store.refresh()
    let thing = try #require(replica.store.object(Thing.self, forPrimaryKey: 1))
    #expect(thing.circle.count == 1)
    try await replica.integrate([insert(.zero, 70)])
    replica.store.refresh()
    #expect(thing.circle.isEmpty)
  }

  @Test(arguments: Engine.allCases) func `an increment beside what brings in earlier contents counts once`(engine: Engine) async throws {
    let directory = TemporaryDirectory("sync")
    let replica = try Replica(9, engine.configuration(directory, "a"))
    // Against the order of the log: the object was known by an increment before it was created.
    try await replica.integrate([changeset(1, 50, [(one, .add("n", 3))])])
    try await replica.integrate([changeset(2, 60, [(one, .create), (one, .add("n", 1))])])
    replica.store.refresh()
    let thing = try #require(replica.store.object(Thing.self, forPrimaryKey: 1))
    #expect(thing.n == 4)
    // In its order: the server refused that somebody made the part, and took what he wrote inside. Then somebody else makes it.
    let part = [PathStep(.embedded("part"), epoch: .zero)]
    func inside(_ author: UInt64, _ time: UInt64, _ operations: [SyncModel.Operation]) -> Changeset {
      Changeset(clientSeq: time, baseSeq: .zero, first: Stamp(time: time << 16, replica: ReplicaID(author)), operations: operations)
    }
    let kept = SyncModel.Operation(one, epoch: .zero, path: part, .set("f", .string("kept"), isDefault: false))
    try await replica.integrate([inside(1, 70, [kept])])
    let made: [SyncModel.Operation] = [
      .init(one, epoch: .zero, path: part, .make), .init(one, epoch: .zero, .add("n", 2)),
      .init(one, epoch: .zero, path: part, .add("count", 1)),
    ]
    try await replica.integrate([inside(2, 80, made)])
    replica.store.refresh()
    #expect(thing.n == 6 && thing.part?.f == "kept" && thing.part?.count == 1)
    withExtendedLifetime(directory) {}
  }

  @Test func `a link leads somewhere once its target has come`() async throws {
    let directory = TemporaryDirectory("sync")
    let replica = try Replica(9, Engine.memory.configuration(directory, "a"))
    let two = ObjectIdentity("Thing", .int(2))
    let link = CellValue.link(LinkTarget(two))
    try await replica.integrate([
      changeset(1, 50, [(one, .create), (one, .set("link", link, isDefault: false)), (one, .set("extra", .list([link]), isDefault: false))])
    ])
    replica.store.refresh()
    let thing = try #require(replica.store.objects(Thing.self).first)
    #expect(thing.link == nil)
    try await replica.integrate([changeset(2, 60, [(two, .create)])])
    replica.store.refresh()
    #expect(thing.link?.id == 2)
    try await replica.integrate([changeset(2, 70, [(two, .delete)])])
    replica.store.refresh()
    #expect(thing.link == nil)
  }
}
