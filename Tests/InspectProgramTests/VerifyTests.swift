import CVivariumSQLite
import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// Damage of each kind is planted, and has to be found and named.
@Suite struct VerifyTests {
  @Test(arguments: FileKind.allCases) func aSoundStoreHasNoFaults(kind: FileKind) throws {
    let zoo = try Zoo(kind)
    let faults = try zoo.faults()
    #expect(faults.isEmpty, "\(faults)")
    let run = try InspectProcess(["verify", zoo.url.path])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(run.output.contains("2600 objects, 4 indexes,") && run.output.hasSuffix("no faults\n"), "\(run.output)")
  }

  @Test(arguments: FileKind.allCases) func aStoreInUseIsVerifiedAsItWasCommitted(kind: FileKind) throws {
    let zoo = try Zoo(kind)
    let engine = try kind.backend(zoo.url).open(OpenOptions())
    let write = try engine.beginWrite(.never)
    defer { write.end() }
    try write.delete(try #require(write.catalog["Dog"]).id, ObjectKey(1))
    #expect(try InspectProcess(["verify", zoo.url.path]).status == 0)
  }

  @Test(arguments: FileKind.allCases) func soundSideEntriesAreNoFaults(kind: FileKind) throws {
    let zoo = try Zoo(kind)
    let engine = try kind.backend(zoo.url).open(OpenOptions())
    try engine.write { write in try #require(write.writePowers.sides).setSide(Array(repeating: 9, count: 480), []) }
    engine.close()
    let faults = try zoo.faults()
    #expect(faults.isEmpty, "\(faults)")
  }

  @Test func sideEntriesThatNoCatalogKnowsAreFound() throws {
    let lmdb = try Zoo(.lmdb)
    try lmdb.put([0x0E, 1], [1])
    try lmdb.put([0x0E], [1])
    let faults = try lmdb.faults()
    #expect(faults.contains("side entries: are there, and the catalog does not know of any"), "\(faults)")
    #expect(faults.contains("entry 0e: has a key that the format does not know"), "\(faults)")
    let sqlite = try Zoo(.sqlite)
    try sqlite.execute("CREATE TABLE _vivarium_side (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
    let more = try sqlite.faults()
    #expect(more.contains("side entries: are there, and the catalog does not know of any"), "\(more)")
  }

  @Test func sideEntriesThatAreNoneAreFound() throws {
    let zoo = try Zoo(.sqlite)
    let engine = try FileKind.sqlite.backend(zoo.url).open(OpenOptions())
    try engine.write { write in try #require(write.writePowers.sides).setSide([1], [1]) }
    engine.close()
    try zoo.execute("INSERT INTO _vivarium_side VALUES (x'', x'01'), ('text', x'01'), (x'0102', 7)")
    let faults = try zoo.faults()
    for key in ["", "74657874", "0102"] {
      #expect(faults.contains("side entry \(key): has a key or a value that is none"), "\(faults)")
    }
    try zoo.execute("DROP TABLE _vivarium_side")
    let more = try zoo.faults()
    #expect(more.contains("side entries: have no table, and the catalog knows of some"), "\(more)")
  }

  @Test(arguments: FileKind.allCases) func linksThatLeadNowhereAreFound(kind: FileKind) throws {
    let zoo = try Zoo(kind)
    let engine = try kind.backend(zoo.url).open(OpenOptions())
    // Below the recorder, which would have taken the dog out of links and lists first.
    try engine.write { write in try write.delete(try #require(write.catalog["Dog"]).id, ObjectKey(7)) }
    engine.close()
    let faults = try zoo.faults()
    #expect(faults.contains("Person #7: leads by 'best' to Dog #7, which is not there"), "\(faults)")
    #expect(faults.contains("Person #7: leads by 'dogs' to Dog #7, which is not there"), "\(faults)")
    let run = try InspectProcess(["verify", zoo.url.path])
    #expect(run.status == 5 && run.errors.isEmpty && run.output.contains("Dog #7, which is not there"), "\(run)")
    let lines = try InspectProcess(["verify", zoo.url.path, "--format", "ndjson"]).output.split(separator: "\n")
    #expect(lines.count == faults.count && lines.allSatisfy { $0.hasPrefix("{\"place\":\"") })
    #expect(try InspectProcess(["verify", zoo.url.path, "--format", "csv"]).output.hasPrefix("place,fault\r\n"))
    #expect(try InspectProcess(["verify", zoo.url.path, "--format", "json"]).output.contains("\"objects\": 2599"))
  }

  // MARK: LMDB: entries of the column store

  private static let person: [UInt8] = [0, 1]
  private static func property(_ number: UInt8) -> [UInt8] { person + [0, number] }
  private static let zero8 = [UInt8](repeating: 0, count: 8)
  private static func number(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

  /// A kind of damage: what is done to which entry, and words of the fault that must be reported.
  struct Plant: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The entry's key begins so; the first such entry is taken.
    var key: [UInt8]
    var fault: String
    /// nil: the entry is removed.
    var edit: (@Sendable (inout [UInt8]) -> Void)?
  }

  private static let plants: [Plant] = [
    Plant(testDescription: "a bound that is too low", key: [6] + property(7) + zero8, fault: "has bounds that leave out") {
      $0.replaceSubrange(16..<24, with: [0, 0, 0, 0, 0, 0, 0, 0x80])
    },
    Plant(testDescription: "a row count", key: [6] + property(7) + zero8, fault: "another number of rows") { $0[2] &+= 1 },
    Plant(testDescription: "a null count", key: [6] + property(7) + zero8, fault: "counts 9 nulls, and has 0") { $0[4] = 9 },
    Plant(testDescription: "a layout", key: [6] + property(7) + zero8, fault: "a column is cut off") { $0[0] = 6 },
    Plant(testDescription: "offsets", key: [6] + property(2) + zero8, fault: "offsets of a column") {
      $0.replaceSubrange(40..<42, with: [0xFF, 0xFF])
    },
    Plant(testDescription: "a cut column", key: [6] + property(2) + zero8, fault: "cut off") { $0.removeLast($0.count - 100) },
    Plant(testDescription: "a lost column of an index", key: [6] + property(2) + zero8, fault: "whose values are higher"),
    Plant(testDescription: "a lost chunk", key: [5] + person + zero8, fault: "chunk is not there"),
    Plant(testDescription: "a dead row", key: [5] + person + zero8, fault: "chunk map") { $0[2] &-= 1 },
    Plant(testDescription: "a lost long value", key: [7] + property(3) + number(3), fault: "a long value is missing"),
    Plant(testDescription: "a lost list directory", key: [8] + property(6) + number(5) + [0, 0, 0, 0], fault: "directory of a list"),
    Plant(testDescription: "a lost list segment", key: [8] + property(6) + number(5) + [0, 0, 0, 1], fault: "segment of a list"),
    Plant(testDescription: "fresh rows", key: [4] + person, fault: "fresh rows") { $0.removeLast(20) },
    Plant(testDescription: "a count of objects", key: [3] + person, fault: "objects, and its chunks have") { $0[8] &-= 1 },
    Plant(testDescription: "a next key", key: [3] + person, fault: "in use") { $0.replaceSubrange(0..<8, with: [5, 0, 0, 0, 0, 0, 0, 0]) },
    Plant(testDescription: "an index block", key: [10, 0, 1], fault: "does not find Person #9 by its values") { $0[8] &+= 1 },
    Plant(testDescription: "a lost index block", key: [10, 0, 2], fault: "entries, and its blocks have"),
    Plant(testDescription: "a count of index entries", key: [9, 0, 2], fault: "entries, and its blocks have") { $0[0] &+= 1 },
    Plant(testDescription: "backlinks of a link", key: [12] + property(4), fault: "is said to be in 'Person.best'") { $0[16] &+= 1 },
    Plant(testDescription: "lost backlinks of a list", key: [12] + property(5), fault: "backlinks of Person.dogs"),
    Plant(testDescription: "a lost commit record", key: [13] + number(3), fault: "version 4 follows version 2"),
    Plant(testDescription: "a damaged commit record", key: [13] + number(3), fault: "commit record of version 3") { $0 = [1, 2] },
  ]

  @Test(arguments: plants) func damagedEntriesOfAnLMDBStoreAreFound(plant: Plant) throws {
    let zoo = try Zoo(.lmdb)
    try zoo.plant(plant.key, plant.edit)
    let faults = try zoo.faults()
    #expect(faults.contains { $0.contains(plant.fault) }, "\(faults.prefix(10))")
  }

  @Test func entriesOfNobodyAreFound() throws {
    let zoo = try Zoo(.lmdb)
    try zoo.put([6, 0, 9, 0, 1] + Self.zero8, [1, 2, 3])
    try zoo.put([0x55, 1], [1])
    try zoo.put([7] + Self.property(3) + Self.number(88_888), [1])
    try zoo.put([10, 0, 99, 1], [1])
    let faults = try zoo.faults()
    #expect(faults.contains("table 9: has entries, and the catalog does not know it"), "\(faults)")
    #expect(faults.contains("entry 5501: has a key that the format does not know"), "\(faults)")
    #expect(faults.contains("Person #88888: has entries of its 'note', and the object is not there"), "\(faults)")
    #expect(faults.contains { $0.hasSuffix("has blocks, and the catalog does not know it") }, "\(faults)")
    // What put them there wrote no commit records.
    #expect(faults.contains { $0.hasPrefix("history: ") } && faults.count == 5, "\(faults)")
  }

  @Test func aDamagedPageOfAnLMDBFileIsFound() throws {
    let zoo = try Zoo(.lmdb)
    let whole = try Data(contentsOf: zoo.url)
    var found = 0
    // Each leaf in turn says that it is another page. Old ones are nobody's, and without the first nothing can be opened.
    for page in 2..<whole.count / 4_096 where found < 2 {
      let start = page * 4_096
      guard whole[start] == UInt8(page & 255), whole[start + 1] == UInt8(page >> 8), whole[start + 10] == 2 else { continue }
      var bytes = whole
      bytes[page * 4_096 + 5] = 0x77
      try bytes.write(to: zoo.url)
      guard let faults = try? zoo.faults(), !faults.isEmpty else { continue }
      #expect(faults.contains("page \(page): is damaged"), "\(faults.prefix(5))")
      found += 1
    }
    #expect(found > 0)
  }

  // MARK: SQLite

  @Test(arguments: [
    ("UPDATE Person SET best = 99999 WHERE _key = 3", "Person #3: leads by 'best' to Dog #99999, which is not there"),
    ("DELETE FROM _vivarium_history WHERE version = 3", "history: version 4 follows version 2"),
    ("UPDATE _vivarium_types SET objects = objects + 1 WHERE name = 'Person'", "Person: counts 2501 objects, and has 2500"),
    ("UPDATE _vivarium_history SET record = x'0102' WHERE version = 3", "history: A commit record in the history is damaged."),
  ]) func damagedRowsOfAnSQLiteStoreAreFound(statement: String, fault: String) throws {
    let zoo = try Zoo(.sqlite)
    try zoo.execute(statement)
    let faults = try zoo.faults()
    #expect(faults.contains { $0.hasPrefix(fault) }, "\(faults)")
  }

  @Test func aDamagedIndexPageOfAnSQLiteFileIsFound() throws {
    let zoo = try Zoo(.sqlite)
    let page = try zoo.rootPage(ofIndexOver: "name")
    var bytes = try Data(contentsOf: zoo.url)
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    // The cells at the end of the page: keys of the index's inner page.
    for offset in (page * size - 48)..<(page * size) { bytes[offset] = 0x2A }
    try bytes.write(to: zoo.url)
    let faults = try zoo.faults()
    #expect(!faults.isEmpty && faults.contains { $0.hasPrefix("file: ") }, "\(faults)")
  }
}

/// People and dogs in a file of their own: chunks, fresh rows, long values, long and short lists, links, indexes.
private struct Zoo {
  let directory = TemporaryDirectory("verify")
  let url: URL
  let kind: FileKind

  private static let schema = Schema([
    ObjectSchema(
      "Person", .scalar("id", .int64, primaryKey: true), .scalar("name", .string, indexed: true), .scalar("note", .string),
      .link("best", to: "Dog"), .list("dogs", ofLinksTo: "Dog"), .list("numbers", of: .int64), .scalar("age", .int64),
      .set("friends", ofLinksTo: "Dog"), .map("scores", of: .double), .scalar("extra", .mixed, indexed: true)),
    ObjectSchema("Dog", .scalar("name", .string, indexed: true)),
  ])

  /// Made once for each kind, and copied for each test.
  private static let templates: [FileKind: Result<(TemporaryDirectory, URL), any Error>] = Dictionary(
    uniqueKeysWithValues: FileKind.allCases.map { kind in
      (kind, Result {
        let directory = TemporaryDirectory("zoo")
        let url = directory.file("zoo.\(kind.rawValue)")
        try make(kind, url)
        return (directory, url)
      })
    })

  init(_ kind: FileKind) throws {
    self.kind = kind
    url = directory.file("zoo.\(kind.rawValue)")
    // Closed, the main file has everything.
    let (_, template) = try #require(try Zoo.templates[kind]?.get())
    try FileManager.default.copyItem(at: template, to: url)
  }

  private static func make(_ kind: FileKind, _ url: URL) throws {
    let engine = try kind.backend(url).open(OpenOptions())
    defer { engine.close() }
    try engine.adopt(schema)
    try engine.write { write in
      let dog = try #require(write.catalog["Dog"])
      for i in 0..<100 { try write.insert(dog, ["name": .string("dog \(i)")]) }
    }
    for part in 0..<3 {
      try engine.write { write in
        for i in [0..<2_400, 2_400..<2_490, 2_490..<2_500][part] { try Zoo.add(i, write) }
      }
    }
  }

  private static func add(_ i: Int, _ write: any WriteTransaction) throws {
    guard let person = write.catalog["Person"] else { return }
    let dog = ObjectKey(Int64(i % 100 + 1))
    let key = try write.insert(
      person,
      [
        "id": .int(Int64(i)), "name": .string("person \(i * 7919 % 2_503)"), "age": .int(Int64(20 + i % 60)),
        "note": .string(i % 500 == 2 ? String(repeating: "long ", count: 600) : "short"), "best": .link(dog),
        "extra": [.null, .int(Int64(i % 7)), .string("x\(i % 5)")][i % 3],
      ])
    try write.edit(person.column(named: "dogs"), key, .insert(at: 0, [.link(dog), .link(dog)]))
    _ = try write.insert(member: .link(dog), into: person.column(named: "friends"), key)
    _ = try write.set(.double(Double(i)), forKey: "week \(i % 4)", in: person.column(named: "scores"), key)
    let count = i % 500 == 4 ? 700 : i % 3
    try write.edit(person.column(named: "numbers"), key, .insert(at: 0, (0..<count).map { .int(Int64($0)) }))
  }

  /// What `verify` finds.
  func faults() throws -> [String] {
    let engine = try kind.backend(url).open(OpenOptions(isReadOnly: kind == .sqlite))
    defer { engine.close() }
    let output = StringOutput()
    do {
      try Inspector(engine, location: "zoo", format: .table, output: output).verify()
    } catch {
      #expect(error.status == .damaged, "\(error)")
    }
    // Whoever plants damage makes a version without a record.
    return output.text.split(separator: "\n").dropLast().map(String.init)
      .filter { !$0.hasPrefix("history: ends at version") }
  }

  // MARK: Damage

  /// Changes the first entry whose key begins with `prefix`, or removes it.
  func plant(_ prefix: [UInt8], _ edit: ((inout [UInt8]) -> Void)?) throws {
    let store = try LMDBStore(path: url.path)
    defer { store.close() }
    var found: (key: [UInt8], value: [UInt8])?
    do {
      let snapshot = try store.beginSnapshot()
      defer { snapshot.end() }
      try prefix.withUnsafeBytes { start in
        try snapshot.visit(from: start, sharing: 0, reverse: false) { key, value in
          if Array(key).starts(with: prefix) { found = (Array(key), Array(value)) }
          return .stop
        }
      }
    }
    var (key, value) = try #require(found, "there is no entry \(prefix)")
    edit?(&value)
    try write(store, key, edit == nil ? nil : value)
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws {
    let store = try LMDBStore(path: url.path)
    defer { store.close() }
    try write(store, key, value)
  }

  private func write(_ store: LMDBStore, _ key: [UInt8], _ value: [UInt8]?) throws {
    let writer = try store.acquireWriter(.never)
    defer { writer.end() }
    var batch = KeyValueBatch(version: try store.latestVersion().next)
    key.withUnsafeBytes { batch.append(key: $0, value: value.map { ValueBuffer($0) }) }
    try writer.apply(batch, .full)
  }

  func execute(_ text: String) throws {
    try withDatabase { database in
      try #require(sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
    }
  }

  func rootPage(ofIndexOver property: String) throws -> Int {
    var page = 0
    try withDatabase { database in
      var statement: OpaquePointer?
      let text = "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND name LIKE 'Person by \(property)%'"
      try #require(sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK)
      defer { sqlite3_finalize(statement) }
      try #require(sqlite3_step(statement) == SQLITE_ROW)
      page = Int(sqlite3_column_int64(statement, 0))
    }
    return page
  }

  private func withDatabase(_ body: (OpaquePointer) throws -> Void) throws {
    var database: OpaquePointer?
    #expect(sqlite3_open_v2(url.path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    defer { sqlite3_close(database) }
    try body(try #require(database))
    sqlite3_wal_checkpoint_v2(database, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
  }
}
