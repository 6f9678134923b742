import Foundation
import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import SyncProtocol
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// What is written through the public interface becomes the right operations, and only those.
@MainActor @Suite struct CaptureTests {
  @Test(arguments: Engine.allCases) func `after every write the merge state shows what the file does`(engine: Engine) async throws {
    var random = SeededGenerator.forTest(#function + engine.rawValue)
    for _ in 0..<environmentNumber("VIVARIUM_SYNC_RUNS", default: 2) {
      let directory = TemporaryDirectory("capture")
      let replica = try SimulatedReplica(1, engine.configuration(directory, "a"), time: SimulatedTime())
      for round in 0..<60 {
        try replica.edit(&random)
        try await replica.check("after write \(round)")
      }
      // All of it, done again by somebody else, gives the same objects.
      let other = try SimulatedReplica(2, engine.configuration(directory, "b"), time: SimulatedTime())
      let made = try await replica.look().bearing.pending.all.map(\.changeset)
      try await other.store.integrate { write in
        var changes = try RemoteChanges(write)
        for (index, changeset) in made.enumerated() {
          let sent = try Changeset(decoding: changeset.encoded())
          try changes.take(LogEntry(Seq(UInt64(index + 1)), .changeset(author: "ann", sent)))
        }
        try changes.finish()
      }
      let (a, b) = (try await replica.check().file, try await other.check().file)
      #expect(a == b, "\(a.difference(from: b))")
      withExtendedLifetime(directory) {}
    }
  }

  // MARK: single edits

  /// The operations of one write after another.
  private func operations(
    _ prepare: (Store) throws -> Void = { _ in }, _ body: (Store) throws -> Void
  ) async throws -> [SyncModel.Operation.Action] {
    let directory = TemporaryDirectory("capture")
    let replica = try SimulatedReplica(1, Engine.memory.configuration(directory, "a"), time: SimulatedTime())
    try replica.store.write { try prepare(try replica.store) }
    let before = try await replica.look().bearing.pending.all.count
    try replica.store.write { try body(try replica.store) }
    try await replica.check()
    let waiting = try await replica.look().bearing.pending.all.map(\.changeset)
    #expect(waiting.count <= before + 1)
    return waiting.dropFirst(before).flatMap { $0.operations.map(\.action) }
  }

  private func make(_ store: Store, _ id: Int = 1) throws -> Thing {
    let thing = Thing()
    thing.id = id
    try store.add(thing)
    return thing
  }

  private func one(_ store: Store) throws -> Thing { try #require(store.object(Thing.self, forPrimaryKey: 1)) }

  @Test func `a new object is one creation, and its defaults but zero`() async throws {
    #expect(try await operations { _ = try make($0) } == [.create, .set("rank", .int(5), isDefault: true)])
  }

  @Test func `equal values, undone savepoints and touches make no operation`() async throws {
    let made = try await operations({ try make($0).x = "a" }) { store in
      let thing = try one(store)
      thing.x = "b"
      thing.x = "a"
      try? store.savepoint {
        thing.n = 5
        thing.texts.append("no")
        throw Undo()
      }
    }
    #expect(made == [])
  }

  @Test func `an increment is added, one after a set is part of it`() async throws {
    #expect(try await operations({ _ = try make($0) }) { try one($0).increment(\.n, by: 3) } == [.add("n", 3)])
    let both = try await operations({ _ = try make($0) }) { store in
      try one(store).increment(\.n, by: 3)
      try one(store).increment(\.n, by: -1)
    }
    #expect(both == [.add("n", 2)])
    let set = try await operations({ _ = try make($0) }) { store in
      try one(store).n = 10
      try one(store).increment(\.n)
    }
    #expect(set == [.set("n", .int(11), isDefault: false)])
  }

  @Test func `what a delete takes out of links, lists and sets is nobody's edit`() async throws {
    let made = try await operations({ store in
      let (thing, other) = (try make(store), try make(store, 2))
      thing.link = other
      thing.friends.append(other)
      thing.circle.insert(other)
      thing.extra = try AnyValue(other)
    }) { store in try store.delete(try #require(store.object(Thing.self, forPrimaryKey: 2))) }
    #expect(made == [.delete])
  }

  @Test func `a moved element keeps its identity`() async throws {
    let made = try await operations({ try make($0).texts.append(contentsOf: ["a", "b", "c"]) }) { try one($0).texts.move(from: 0, to: 2) }
    guard made.count == 1, case .move = made[0] else { return #expect(made == [], "one move, not these") }
  }

  @Test func `one element among many is one operation`() async throws {
    let many = (0..<1_000).map { "\($0)" }
    let made = try await operations({ try make($0).texts.append(contentsOf: many) }) { store in
      try one(store).texts[500] = "new"
      try one(store).texts.remove(at: 3)
      try one(store).texts.append("end")
    }
    #expect(made.count == 3)
  }

  @Test func `a cleared set is one clear, whatever was in it`() async throws {
    let made = try await operations({ store in
      let thing = try make(store)
      for n in 0..<50 { thing.numbers.insert(n) }
    }) { store in
      try one(store).numbers.removeAll()
      try one(store).numbers.insert(7)
    }
    #expect(made == [.clear, .insertMember(.int(7))])
  }

  @Test func `an object that goes and comes back in one write is another one`() async throws {
    let made = try await operations({ try make($0).x = "old" }) { store in
      try store.delete(try one(store))
      try make(store).n = 1
    }
    #expect(made == [.delete, .create, .set("n", .int(1), isDefault: false), .set("rank", .int(5), isDefault: true)])
  }

  // MARK: who may write

  @Test(arguments: Engine.allCases) func `a replicated file is written with replication alone`(engine: Engine) throws {
    let directory = TemporaryDirectory("capture")
    let configuration = engine.configuration(directory, "a")
    let replica = try SimulatedReplica(1, configuration, time: SimulatedTime())
    try replica.store.write { _ = try make(try replica.store) }
    let other = try Store(configuration)
    #expect {
      try other.write { try one(other).x = "unheard" }
    } throws: { ($0 as? StoreError)?.code == .syncRequired }
    #expect(try one(other).x == nil)
  }

  @Test func `objects from before replication are sent when that is asked for, and lose`() async throws {
    let directory = TemporaryDirectory("capture")
    let configuration = Engine.lmdb.configuration(directory, "a")
    let plain = try Store(configuration)
    try plain.write {
      try make(plain).x = "old"
      _ = try make(plain, 2)
    }
    let refusing = try SimulatedReplica(1, configuration, time: SimulatedTime())
    #expect {
      try refusing.store.write { try one(try refusing.store).n = 1 }
    } throws: { ($0 as? StoreError)?.code.rawValue == "syncRequired" }
    let merging = try SimulatedReplica(1, configuration, time: SimulatedTime(), existing: .merge)
    try merging.store.write { try one(try merging.store).n = 1 }
    let picture = try await merging.check().file
    #expect(picture.objects.count == 2)
    let operations = try await merging.look().bearing.pending.all.flatMap(\.changeset.operations)
    #expect(operations.contains { $0.action == .set("x", .string("old"), isDefault: true) })
  }

  @Test func `what a migration sets, makes and deletes is told`() async throws {
    let directory = TemporaryDirectory("capture")
    var configuration = Engine.lmdb.configuration(directory, "a")
    var before = 0
    do {
      let replica = try SimulatedReplica(1, configuration, time: SimulatedTime())
      try replica.store.write {
        _ = try make(replica.store)
        _ = try make(replica.store, 2)
      }
      before = try await replica.bearing().pending.all.count
    }
    configuration.schemaVersion = 2
    configuration.migration = { migration, _ in
      try migration.enumerateObjects(ofType: "Thing") { old, new in
        guard let new else { return }
        if old["id"] == .int(2) { try migration.delete(new) } else { try new.set("x", to: .string("migrated")) }
      }
      try migration.create("Thing", ["id": .int(3)])
    }
    let replica = try SimulatedReplica(1, configuration, time: SimulatedTime())
    let look = try await replica.check()
    #expect(look.file.objects.keys.sorted() == ["Thing(1)", "Thing(3)"])
    let told = look.bearing.pending.all.dropFirst(before).flatMap(\.changeset.operations).map { "\($0.object) \($0.action)" }
    #expect(told.contains { $0.hasPrefix("Thing(1)") && $0.contains("migrated") })
    #expect(told.contains { $0.hasPrefix("Thing(2)") && $0.hasSuffix("delete") })
    #expect(told.contains { $0.hasPrefix("Thing(3)") && $0.hasSuffix("create") })
  }

  @Test func `objects that come many at once are told like any others`() async throws {
    let directory = TemporaryDirectory("capture")
    let replica = try SimulatedReplica(1, Engine.memory.configuration(directory, "a"), time: SimulatedTime())
    let store = try replica.store
    try store.write {
      let things = (1...500).map { id in
        let thing = Thing()
        thing.id = id
        thing.x = "\(id)"
        return thing
      }
      try store.add(things)
      try store.create(Thing.self, json: Data(#"[{"id": 501, "texts": ["a", "b"]}, {"id": 502}]"#.utf8))
    }
    let look = try await replica.check()
    #expect(look.file.objects.count == 502)
    let creations = look.bearing.pending.all.flatMap(\.changeset.operations).filter { $0.action == .create }
    #expect(creations.count == 502)
  }
}
