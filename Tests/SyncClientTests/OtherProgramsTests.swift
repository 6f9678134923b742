import CVivariumSQLite
import Foundation
import SyncClient
import SyncModel
import SyncProtocol
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// What other SQLite programs write to a replicated file is told to other replicas like any write, with the next one.
@MainActor @Suite struct OtherProgramsTests {
  private let directory = TemporaryDirectory("programs")

  private func replica() throws -> SimulatedReplica {
    try SimulatedReplica(1, Engine.sqlite.configuration(directory, "file"), time: SimulatedTime())
  }

  private func execute(_ text: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    var code = sqlite3_open_v2(directory.file("file").path, &database, SQLITE_OPEN_READWRITE, nil)
    if code == SQLITE_OK {
      sqlite3_busy_timeout(database, 5_000)
      code = sqlite3_exec(database, text, nil, nil, nil)
    }
    guard code == SQLITE_OK else { throw Divergence("\(String(cString: sqlite3_errmsg(database))): \(text)") }
  }

  private func thing(_ id: Int, in store: Store) throws -> Thing {
    let thing = Thing()
    thing.id = id
    try store.add(thing)
    return thing
  }

  /// What the last operations were, as texts.
  private func operations(_ replica: SimulatedReplica, after count: Int) async throws -> [String] {
    try await replica.look().bearing.pending.all.dropFirst(count).flatMap(\.changeset.operations).map { "\($0.object) \($0.action)" }
  }

  @Test func `rows that came, changed and went`() async throws {
    let replica = try replica()
    let store = try replica.store
    try store.write {
      for id in 1...3 { try thing(id, in: store).x = "old" }
      let plain = Plain()
      try store.add(plain)
    }
    try execute(
      """
      INSERT INTO Thing (id, x, n, rank) VALUES (9, 'foreign', 0, 5);
      UPDATE Thing SET x = 'changed' WHERE id = 1;
      UPDATE Thing SET link = (SELECT _key FROM Thing WHERE id = 9) WHERE id = 3;
      DELETE FROM Thing WHERE id = 2;
      DELETE FROM Plain;
      """)
    try store.write { store.object(Thing.self, forPrimaryKey: 1)?.n = 7 }
    try await replica.check("after another program")
    let all = try await operations(replica, after: 1)
    #expect(all.contains { $0.hasPrefix("Thing(2) ") && $0.hasSuffix("delete") } && all.contains { $0.hasPrefix("Plain") })
    #expect(all.contains { $0.hasPrefix("Thing(9) ") && $0.hasSuffix("create") })
    #expect(all.contains { $0.hasPrefix("Thing(1) ") && $0.contains("changed") })
    #expect(all.contains { $0.hasPrefix("Thing(3) ") && $0.contains("link") })
    #expect(all.count == 8, "\(all)")
  }

  @Test func `what they wrote is in the books before others' changes are taken in`() async throws {
    let replica = try replica()
    let store = try replica.store
    try store.write { _ = try thing(1, in: store) }
    try execute("UPDATE Thing SET x = 'changed' WHERE id = 1")
    let other = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1, counter: 0, replica: ReplicaID(2)),
      operations: [SyncModel.Operation(ObjectIdentity("Thing", .int(1)), epoch: .zero, .set("x", .string("earlier"), isDefault: false))])
    try await store.integrate { write in
      var changes = try RemoteChanges(write)
      try changes.take(LogEntry(Seq(1), .changeset(author: "ann", other)))
      try changes.finish()
    }
    let look = try await replica.check()
    #expect(look.file.objects["Thing(1)"]?["x"] == "changed" && look.bearing.pending.all.count == 2)
  }

  @Test func `lists, sets, maps and parts`() async throws {
    let replica = try replica()
    let store = try replica.store
    try store.write {
      let thing = try thing(1, in: store)
      thing.texts.append(contentsOf: ["a", "b", "c"])
      thing.numbers.insert(1)
      thing.numbers.insert(2)
      thing.notes["k"] = "v"
      thing.notes["l"] = "w"
      thing.part = Part()
      for text in ["x", "y"] {
        let part = Part()
        part.f = text
        thing.parts.append(part)
      }
    }
    try execute(
      """
      DELETE FROM "Thing.texts" WHERE value = 'b';
      DELETE FROM "Thing.numbers" WHERE value = 1;
      UPDATE "Thing.notes" SET value = 'changed' WHERE "key" = 'k';
      DELETE FROM "Thing.notes" WHERE "key" = 'l';
      UPDATE Part SET f = 'changed' WHERE f = 'y';
      UPDATE Part SET count = 5 WHERE f IS NULL;
      """)
    try store.write { _ = try thing(2, in: store) }
    let look = try await replica.check("after another program")
    let all = try await operations(replica, after: 1)
    #expect(all.filter { $0.contains("erase(") }.count == 1, "an element is taken out, and the others stay: \(all)")
    #expect(look.file.objects["Thing(1)"]?["texts"]?.contains("b") == false)
    #expect(look.file.objects["Thing(1)"]?["parts"]?.contains("changed") == true)
    #expect(look.file.objects["Thing(1)"]?["notes"]?.contains("changed") == true)
  }

  @Test func `another primary key is another object`() async throws {
    let replica = try replica()
    let store = try replica.store
    try store.write { try thing(1, in: store).x = "stays" }
    try execute("UPDATE Thing SET id = 5 WHERE id = 1")
    try store.write { _ = try thing(2, in: store) }
    let look = try await replica.check("after another program")
    #expect(look.file.objects.keys.sorted() == ["Thing(2)", "Thing(5)"])
    #expect(try await operations(replica, after: 1).contains { $0.hasPrefix("Thing(1) ") && $0.hasSuffix("delete") })
  }

  @Test func `nothing is told twice`() async throws {
    let replica = try replica()
    let store = try replica.store
    try store.write { _ = try thing(1, in: store) }
    try execute("UPDATE Thing SET x = 'changed' WHERE id = 1")
    try store.write { store.object(Thing.self, forPrimaryKey: 1)?.n = 1 }
    let before = try await replica.look().bearing.pending.all.count
    try store.write { store.object(Thing.self, forPrimaryKey: 1)?.n = 2 }
    #expect(try await operations(replica, after: before).count == 1)
    try replica.restart()
    try replica.store.write { try replica.store.object(Thing.self, forPrimaryKey: 1)?.n = 3 }
    #expect(try await operations(replica, after: before + 1).count == 1)
  }
}
