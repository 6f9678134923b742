import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// What somebody sees who opens the file with another program.
@Suite struct ReadableFileTests {
  private let schema = Schema([
    ObjectSchema(
      "Person", .scalar("id", .uuid, primaryKey: true), .scalar("name", .string, indexed: true),
      .scalar("isAdult", .bool), .scalar("score", .double, optional: true, indexed: true), .scalar("born", .date, indexed: true),
      .list("dogs", ofLinksTo: "Dog")),
    ObjectSchema("Dog", .scalar("name", .string, optional: true), .link("best", to: "Person")),
  ])

  @Test func theSchemaReadsAsItWasDeclared() throws {
    let place = Place()
    try place.open().adopt(schema)
    let tables = try Raw(place.path).rows("SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
    #expect(
      tables == [
        """
        CREATE TABLE "Person" (
          _key INTEGER PRIMARY KEY,
          "id" BLOB NOT NULL DEFAULT x'00000000000000000000000000000000' /* UUID, 16 bytes */,
          "name" TEXT NOT NULL DEFAULT '',
          "isAdult" INTEGER NOT NULL DEFAULT 0 /* 0 or 1 */,
          "score" REAL,
          "born" INTEGER NOT NULL DEFAULT 0 /* nanoseconds since 2001-01-01 00:00 UTC, within 2^62 */
        )
        """,
        """
        CREATE TABLE "Person.dogs" (
          owner INTEGER NOT NULL,
          position INTEGER NOT NULL,
          value INTEGER NOT NULL /* _key in Dog */,
          PRIMARY KEY (owner, position)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE "Dog" (
          _key INTEGER PRIMARY KEY,
          "name" TEXT,
          "best" INTEGER /* _key in Person */
        )
        """,
      ])
    let indexes = try Raw(place.path).rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
    #expect(
      indexes == [
        "Dog.best links|CREATE INDEX \"Dog.best links\" ON \"Dog\" (\"best\") WHERE \"best\" IS NOT NULL",
        "Person by born|CREATE INDEX \"Person by born\" ON \"Person\" (\"born\")",
        "Person by id|CREATE UNIQUE INDEX \"Person by id\" ON \"Person\" (\"id\")",
        "Person by name|CREATE INDEX \"Person by name\" ON \"Person\" (\"name\")",
        "Person by score|CREATE INDEX \"Person by score\" ON \"Person\" (CASE typeof(\"score\") WHEN 'null' THEN NULL "
          + "WHEN 'blob' THEN \"score\" = x'8000000000000000' ELSE 1 END, CASE typeof(\"score\") WHEN 'blob' THEN 0 ELSE \"score\" END)",
        "Person.dogs links|CREATE INDEX \"Person.dogs links\" ON \"Person.dogs\" (value)",
      ])
  }

  @Test func valuesRestInTheirNaturalTypes() throws {
    let place = Place()
    let engine = try place.open()
    let catalog = try engine.adopt(schema)
    let (person, dog) = (try #require(catalog["Person"]), try #require(catalog["Dog"]))
    try engine.write { write in
      let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
      let first = try write.insert(
        person, [
          "id": .uuid(id), "name": .string("Jane"), "isAdult": .bool(true), "score": .double(.nan),
          "born": .date(Timestamp(word: 1_500_000_001)),
        ])
      let rex = try write.insert(dog, ["name": .string("Rex"), "best": .link(first)])
      try write.edit(person.column(named: "dogs"), first, .insert(at: 0, [.link(rex), .link(rex)]))
    }
    let raw = try Raw(place.path)
    #expect(
      try raw.rows("SELECT _key, hex(id), name, isAdult, typeof(score), hex(score), typeof(born), born FROM Person")
        == ["1|0102030405060708090A0B0C0D0E0F10|Jane|1|blob|7FF8000000000000|integer|1500000001"])
    #expect(try raw.rows("SELECT _key, name, best FROM Dog") == ["1|Rex|1"])
    #expect(try raw.rows("SELECT * FROM \"Person.dogs\"") == ["1|0|1", "1|4294967296|1"])
    #expect(try raw.rows("SELECT name, objects, last_key FROM _vivarium_types ORDER BY id") == ["Person|1|1", "Dog|1|1"])
    #expect(try raw.rows("SELECT version FROM _vivarium_history") == ["1", "2"])
    #expect(try raw.rows("PRAGMA integrity_check") == ["ok"])
    #expect(try raw.rows("PRAGMA journal_mode") == ["wal"])
  }

  @Test func oddNamesMakeAFileThatWorks() throws {
    let place = Place()
    let engine = try place.open()
    let odd = Schema([
      ObjectSchema(
        "sqlite_stat1", .scalar("_key", .int64, primaryKey: true), .scalar("a\"b", .string, indexed: true),
        .scalar("A\"B", .double, indexed: true), .scalar("x\0y", .data, optional: true), .scalar("select", .bool),
        .list("rowid", of: .string), .scalar("*/ evil", .link, optional: true)),
      ObjectSchema("SQLITE_STAT1", .scalar("", .int8), .link("*/", to: "sqlite_stat1")),
      ObjectSchema("sqlite_stat1.rowid", .scalar("value", .int8)),
    ])
    let named = Schema(odd.objects.map { object in
      var object = object
      object.properties.removeAll { $0.name.isEmpty || ($0.valueType == .link && $0.target == nil) }
      return object
    })
    let table = try #require(try engine.adopt(named)["sqlite_stat1"])
    try engine.write { write in
      let key = try write.insert(table, ["_key": .int(7), "a\"b": .string("x"), "A\"B": .double(2)])
      try write.edit(table.column(named: "rowid"), key, .insert(at: 0, [.string("one")]))
    }
    let read = try engine.beginRead()
    let key = try #require(try read.key(in: table.index("_key"), equal: [.int(7)]))
    #expect(try read.value(table.column(named: "a\"b"), key) == .string("x"))
    #expect(try read.value(table.column(named: "A\"B"), key) == .double(2))
    #expect(try read.values(table.column(named: "rowid"), key, 0..<9) == [.string("one")])
  }

  @Test func addedPropertiesReadAsTheirDefaultsInOldRows() throws {
    let place = Place()
    let engine = try place.open()
    var object = ObjectSchema("Thing", .scalar("id", .int64, primaryKey: true))
    try engine.write { _ in }
    let old = try #require(try engine.adopt(Schema([object]))["Thing"])
    try engine.write { try $0.insert(old, ["id": .int(1)]) }
    let defaults: [(String, ValueType, Value)] = [
      ("a", .string, .string("it's \0 \"odd\"")), ("b", .double, .double(.nan)), ("c", .float, .float(-0.0)),
      ("d", .double, .double(-.infinity)), ("e", .data, .data(Data([0, 255]))), ("f", .bool, .bool(true)),
      ("g", .date, .date(Timestamp(word: -1))), ("h", .int64, .int(.min)),
    ]
    object.properties += defaults.map { PropertySchema.scalar($0.0, $0.1, indexed: true, default: $0.2) }
    let new = try #require(try engine.adopt(Schema([object]))["Thing"])
    let read = try engine.beginRead()
    for (name, _, value) in defaults {
      #expect(try read.value(new.column(named: name), ObjectKey(1)) == value)
      #expect(try read.key(in: new.index(name), equal: [value]) == ObjectKey(1))
    }
  }
}
