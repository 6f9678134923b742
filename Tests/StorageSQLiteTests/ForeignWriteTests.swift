import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport
@testable import StorageSQLite

/// Other SQLite programs may write the file: counted at once, and in the history with our next write.
@Suite struct ForeignWriteTests {
  @Test("A change of key does not undo what another program wrote behind its copy")
  func aChangeOfKeyLosesNoForeignWrite() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<4 { try write.insert(table, ["id": .int(Int64(id))]) } }
    engine.close()
    let file = StoreFile(path: place.path)
    let error = #expect(throws: StorageError.self) {
      // Opens, commits and closes, so that no log is left.
      try file.exchange(for: nil, { _ in .proceed }) { try Raw(place.path).execute("UPDATE Thing SET name = 'foreign' WHERE _key = 1") }
    }
    #expect(error?.code == .alreadyOpen)
    #expect(try Raw(place.path).rows("SELECT name FROM Thing WHERE _key = 1") == ["foreign"])
    try file.exchange(for: nil, { _ in .proceed })
    #expect(try Raw(place.path).rows("SELECT name FROM Thing WHERE _key = 1") == ["foreign"])
  }

  @Test func foreignWritesAreCountedAndGetACommitRecord() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<4 { try write.insert(table, ["id": .int(Int64(id))]) } }
    let raw = try Raw(place.path)
    try raw.execute(
      """
      INSERT INTO Thing (id, name) VALUES (100, 'foreign');
      UPDATE Thing SET name = 'changed' WHERE _key = 1;
      DELETE FROM Thing WHERE _key = 2;
      INSERT INTO "Thing.words" (owner, position, value) VALUES (3, 0, 'word');
      """)
    let read = try engine.beginRead()
    #expect(try read.count(table.id) == 4)
    #expect(try read.value(table.column(named: "name"), ObjectKey(1)) == .string("changed"))
    #expect(try read.values(table.column(named: "words"), ObjectKey(3), 0..<5) == [.string("word")])
    read.end()
    var key = ObjectKey(0)
    let version = try engine.write { key = try $0.insert(table, ["id": .int(101)]) }
    #expect(key == ObjectKey(6))
    #expect(version == Version(4))
    var records: [CommitRecord] = []
    let after = try engine.beginRead()
    try after.history(after: Version(2)) { records.append($0); return .proceed }
    let change = try #require(records.first?.tables.first)
    #expect(records.count == 2)
    #expect(change.inserted.runs == [5...5] && change.deleted.runs == [2...2])
    #expect(change.modified.map(\.key.rawValue) == [1, 3])
    #expect(change.modified.last?.properties.contains(table.id("words")) == true)
    #expect(try raw.rows("SELECT count(*) FROM _vivarium_foreign") == ["0"])
  }

  @Test func changesOfRowsThatAreNoObjectsLeaveTheHistoryReadable() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    let raw = try Raw(place.path)
    try raw.execute("INSERT INTO Thing (_key, id) VALUES (-5, 5)")
    try engine.write { _ in }
    try raw.execute("UPDATE Thing SET name = 'changed'")
    try raw.execute("INSERT INTO \"Thing.words\" (owner, position, value) VALUES (-5, 0, 'word')")
    try engine.write { _ in }
    let read = try engine.beginRead()
    defer { read.end() }
    var modified: [Int64] = []
    try read.history(after: Version(0)) { record in
      modified += record.tables.flatMap(\.modified).map(\.key.rawValue)
      return .proceed
    }
    #expect(modified == [1])
  }

  @Test func orderKeysAndLinksOfForeignWritesAreMadeRight() throws {
    let place = Place()
    let engine = try place.open()
    let schema = Schema([
      ObjectSchema("Item", .scalar("price", .decimal, optional: true, indexed: true), .scalar("any", .mixed), .set("sizes", of: .int64))
    ])
    let item = try #require(try engine.adopt(schema)["Item"])
    let raw = try Raw(place.path)
    let link = ObjectLink(item.id, ObjectKey(1))
    let bytes = try #require(MixedCoding.encode(.object(link))).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try raw.execute(
      """
      INSERT INTO Item (price, "any") VALUES ('10', NULL), ('9.5', x'\(bytes)'), ('NaN', 'text');
      INSERT INTO "Item.sizes" (owner, sort, value) VALUES (1, 'a', 3), (1, 'b', 1), (1, 'c', 3);
      """)
    try engine.write { _ in }
    let read = try engine.beginRead()
    defer { read.end() }
    var keys: [Int64] = []
    try read.keys(in: item.index("price"), .all, descending: false) { keys += $0; return .proceed }
    #expect(keys == [3, 2, 1])
    #expect(try read.value(item.column(named: "any"), ObjectKey(3)) == .string("text"))
    #expect(try read.values(item.column(named: "sizes"), ObjectKey(1), 0..<9) == [.int(1), .int(3)])
    #expect(try read.contains(member: .int(3), in: item.column(named: "sizes"), ObjectKey(1)))
    var sources: [Int64] = []
    try read.sources(of: link, through: item.column(named: "any")) { sources += $0; return .proceed }
    #expect(sources == [2])
  }

  /// With the triggers of this build, and as in files of older builds, which have no word about rows in the way.
  @Test(arguments: [false, true]) func whatReplaceTakesAwayIsCountedAndInTheRecord(_ isOldFile: Bool) throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<3 { try write.insert(table, ["id": .int(Int64(id))]) } }
    let raw = try Raw(place.path)
    if isOldFile { try raw.execute("DROP TRIGGER \"_vivarium 1 replacing\"; DROP TRIGGER \"_vivarium 1 replacing others\"") }
    // Object 2 goes for 4, nothing comes for 0, and 3 makes room for 4.
    try raw.execute(
      """
      INSERT OR REPLACE INTO Thing (id, name) VALUES (1, 'new');
      INSERT OR IGNORE INTO Thing (id, name) VALUES (0, 'ignored');
      UPDATE OR REPLACE Thing SET id = 2 WHERE id = 1;
      """)
    if !isOldFile { try raw.execute("REPLACE INTO Thing (_key, id) VALUES (1, 50)") }
    try engine.write { _ in }
    let read = try engine.beginRead()
    #expect(try read.count(table.id) == 2)
    var keys: [Int64] = []
    try read.scan(table.id, [], from: ObjectKey(0), hints: []) { batch in
      for row in 0..<batch.count { keys.append(batch.key(at: row).rawValue) }
      return .proceed
    }
    #expect(keys == [1, 4])
    var records: [CommitRecord] = []
    try read.history(after: Version(2)) { records.append($0); return .proceed }
    let change = try #require(records.first?.tables.first)
    #expect(change.inserted.runs == [4...4] && change.deleted.runs == [2...3])
    #expect(change.modified.map(\.key.rawValue) == (isOldFile ? [] : [1]))
    // Known from here on.
    try engine.write { try $0.insert(table, ["id": .int(90)]) }
    #expect(try engine.beginRead().count(table.id) == 3)
  }

  @Test func aPositionThatIsNoIntegerIsAnErrorAndNoTrap() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let words = table.column(named: "words")
    try engine.write { write in
      let key = try write.insert(table, ["id": .int(1)])
      try write.edit(words, key, .insert(at: 0, ["a", "b", "c"].map { .string($0) }))
    }
    try Raw(place.path).execute("INSERT INTO \"Thing.words\" VALUES (1, 'end', 'd')")
    let write = try engine.beginWrite(.never)
    let refused = #expect(throws: StorageError.self) { try write.edit(words, ObjectKey(1), .remove(1..<4)) }
    #expect(refused?.code == .corrupt && refused?.scope == .statement)
    // Emptying the list mends it.
    try write.edit(words, ObjectKey(1), .clear)
    try write.edit(words, ObjectKey(1), .insert(at: 0, [.string("e")]))
    #expect(try write.elementCount(words, ObjectKey(1)) == 1)
  }

  @Test func aForeignDeleteOfEverythingIsLoggedRowByRowAndTakesItsListsAlong() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      for id in 1...50 {
        let key = try write.insert(table, ["id": .int(Int64(id))])
        try write.edit(table.column(named: "friends"), key, .insert(at: 0, [.link(ObjectKey(1)), .link(key)]))
      }
    }
    // Without a WHERE SQLite empties a table in one go, unless a trigger wants every row.
    let raw = try Raw(place.path)
    try raw.execute("DELETE FROM Thing WHERE _key = 7")
    try raw.execute("DELETE FROM Thing")
    #expect(try engine.beginRead().count(table.id) == 0)
    try engine.write { _ in }
    var records: [CommitRecord] = []
    let read = try engine.beginRead()
    try read.history(after: Version(2)) { records.append($0); return .proceed }
    #expect(records.first?.author == "another program")
    #expect(records.first?.tables.first?.deleted.runs == [1...50])
    #expect(try raw.rows("SELECT count(*) FROM \"Thing.friends\"") == ["0"])
    var sources: [Int64] = []
    try read.sources(of: ObjectKey(1), through: table.column(named: "friends")) { sources += $0; return .proceed }
    #expect(sources.isEmpty)
  }

  @Test func aTableThatAForeignerTookAwayIsATypedErrorAndOthersGoOn() throws {
    let place = Place()
    let engine = try place.open()
    let schema = Schema([
      ObjectSchema("Kept", .scalar("name", .string)), ObjectSchema("Lost", .scalar("name", .string)),
      ObjectSchema("Changed", .scalar("name", .string), .scalar("age", .int64)),
    ])
    let catalog = try engine.adopt(schema)
    let (kept, lost) = (try #require(catalog["Kept"]), try #require(catalog["Lost"]))
    let changed = try #require(catalog["Changed"])
    try engine.write { write in
      for table in [kept, lost, changed] { try write.insert(table, ["name": .string("before")]) }
    }
    try Raw(place.path).execute("DROP TABLE Lost; ALTER TABLE Changed RENAME COLUMN name TO title")
    let read = try engine.beginRead()
    #expect(try read.value(kept.column(named: "name"), ObjectKey(1)) == .string("before"))
    for table in [lost, changed] {
      #expect(throws: StorageError.self) { try read.value(table.column(named: "name"), ObjectKey(1)) }
      #expect(throws: StorageError.self) {
        try read.scan(table.id, [table.id("name")], from: ObjectKey(0), hints: []) { _ in .proceed }
      }
    }
    read.end()
    let write = try engine.beginWrite(.never)
    for table in [lost, changed] { #expect(throws: StorageError.self) { try write.insert(table, ["name": .string("x")]) } }
    try write.insert(kept, ["name": .string("after")])
    _ = try write.commit(CommitRecord(), .relaxed)
    #expect(try engine.beginRead().count(kept.id) == 2)
    engine.close()
    let again = try place.open()
    #expect(try again.beginRead().value(kept.column(named: "name"), ObjectKey(2)) == .string("after"))
  }

  @Test func ourOwnWritesLogNothing() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      let key = try write.insert(table)
      try write.set(table.column(named: "name"), key, .string("x"))
      try write.edit(table.column(named: "words"), key, .insert(at: 0, [.string("y")]))
      try write.delete(table.id, key)
    }
    #expect(try Raw(place.path).rows("SELECT count(*) FROM _vivarium_foreign") == ["0"])
  }

  @Test func aKeyGivenOutIsNeverUsedAgainWhateverForeignersDo() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    let raw = try Raw(place.path)
    try raw.execute("DELETE FROM Thing; DROP TRIGGER \"_vivarium 1 inserted\"; INSERT INTO Thing (_key, id) VALUES (50, 2)")
    var keys: [ObjectKey] = []
    let rolledBack = try engine.beginWrite(.never)
    keys.append(try rolledBack.insert(table, ["id": .int(3)]))
    rolledBack.end()
    try engine.write { keys.append(try $0.insert(table, ["id": .int(3)])) }
    #expect(keys.map(\.rawValue) == [51, 52])
  }
}
