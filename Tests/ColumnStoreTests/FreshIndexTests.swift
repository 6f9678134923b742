import StorageConformance
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Fresh rows have no entries in the blocks of indexes: who reads an index finds them all the same.
@Suite struct FreshIndexTests {
  private static let schema = Schema([
    ObjectSchema(
      "Task", .scalar("id", .int64, primaryKey: true), .scalar("title", .string, indexed: true),
      .scalar("code", .string, optional: true, unique: true), .scalar("project", .int64, indexed: true), .link("parent", to: "Task"))
  ])

  private static func row(_ id: Int, code: String? = nil, parent: ObjectKey? = nil) -> [String: Value] {
    [
      "id": .int(Int64(id)), "title": .string("Task \(id % 40)"), "code": code.map { .string($0) } ?? .null,
      "project": .int(Int64(id % 5)), "parent": parent.map { .link($0) } ?? .null,
    ]
  }

  private func filled(
    _ base: any KeyValueStore = MemoryStore(pageSize: 4_096), rows: Int
  ) throws -> (CountingStore, ColumnEngine, TableEntry) {
    let store = CountingStore(base)
    let engine = try ColumnEngine(store, OpenOptions())
    let table = try #require(try engine.adopt(FreshIndexTests.schema)["Task"])
    try engine.write { write in for id in 0..<rows { try write.insert(table, FreshIndexTests.row(id)) } }
    _ = store.take()
    return (store, engine, table)
  }

  private func faults(_ engine: ColumnEngine) throws -> [String] {
    let read = try engine.beginRead()
    defer { read.end() }
    var faults: [String] = []
    try engine.verifyStructure(read) { faults.append("\($0)") }
    return faults
  }

  @Test func indexesAreWrittenWhenTheFreshRowsBecomeAChunk() throws {
    let (store, engine, table) = try filled(rows: 5_000)
    var quiet = 0
    var sealed = 0
    for id in 5_000..<5_600 {
      try engine.write { try $0.insert(table, FreshIndexTests.row(id)) }
      let puts = store.take().puts
      if puts[.freshRows] == nil { sealed += 1 } else { quiet += 1 }
      #expect((puts[.indexBlock] == nil) == (puts[.freshRows] != nil) && (puts[.indexRecord] == nil) == (puts[.indexBlock] == nil))
    }
    // Some hundred rows fit each time.
    #expect(sealed >= 1 && quiet >= 60 * sealed)
    let read = try engine.beginRead()
    defer { read.end() }
    for id in stride(from: Int64(0), to: 5_600, by: 7) {
      #expect(try read.key(in: table.index("id"), equalTo: id) == ObjectKey(id + 1))
    }
    #expect(try read.count(in: table.index("project"), equalTo: 3) == 1_120)
    #expect(try read.count(in: table.index("title"), IndexRange(equal: [.string("Task 39")])) == 140)
    #expect(try faults(engine) == [])
  }

  @Test func changesOfFreshRowsWriteNoIndex() throws {
    let (store, engine, table) = try filled(rows: 3_000)
    var keys: [ObjectKey] = []
    try engine.write { write in for id in 3_000..<3_010 { keys.append(try write.insert(table, FreshIndexTests.row(id))) } }
    try engine.write { write in
      _ = try write.set(table.column(named: "project"), keys[0], word: 77)
      try write.delete(table.id, keys[1])
    }
    let puts = store.take().puts
    #expect(puts == [.tableRecord: 1, .freshRows: 1, .history: 1])
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.found(in: table.index("project"), IndexRange(equal: [.int(77)])) == [keys[0].rawValue])
    #expect(try read.key(in: table.index("id"), equalTo: 3_001) == nil)
    #expect(try read.count(in: table.index("project"), .all) == 3_009)
    // A row of a chunk has entries as ever.
    try engine.write { _ = try $0.set(table.column(named: "project"), ObjectKey(1), word: 78) }
    #expect(store.take().puts[.indexBlock] != nil)
  }

  @Test(arguments: [0, 2_000]) func aValueOfAFreshRowIsNotGivenTwice(_ rows: Int) throws {
    let (_, engine, table) = try filled(rows: rows)
    var made: ObjectKey?
    try engine.write { made = try $0.insert(table, FreshIndexTests.row(9_000, code: "A")) }
    let first = try #require(made)
    func refusal(_ body: (any WriteTransaction) throws -> Void) throws -> ObjectKey? {
      let write = try engine.beginWrite(.never)
      defer { write.end() }
      do { try body(write) } catch let error as StorageError where error.code == .uniqueViolation { return error.conflictingKey }
      return nil
    }
    #expect(try refusal { try $0.insert(table, FreshIndexTests.row(9_000)) } == first)
    #expect(try refusal { try $0.insert(table, FreshIndexTests.row(9_001, code: "A")) } == first)
    #expect(try refusal { _ = try $0.insert(table, FreshIndexTests.row(9_001, code: "B")) } == nil)
    // In one write, and from a row of before to the fresh one and back.
    #expect(try refusal { write in
      let second = try write.insert(table, FreshIndexTests.row(9_002, code: "C"))
      _ = try write.set(table.column(named: "id"), second, word: 9_000)
    } == first)
    #expect(try refusal { write in
      _ = try write.set(table.column(named: "id"), first, word: 9_005)
      _ = try write.set(table.column(named: "id"), first, word: 9_000)
      try write.delete(table.id, first)
      try write.insert(table, FreshIndexTests.row(9_000, code: "A"))
    } == nil)
    if rows > 0 { #expect(try refusal { _ = try $0.set(table.column(named: "id"), first, word: 5) } == ObjectKey(6)) }
    // More than are looked at one by one.
    try engine.write { write in for id in 10_000..<10_400 { try write.insert(table, FreshIndexTests.row(id)) } }
    #expect(try refusal { try $0.insert(table, FreshIndexTests.row(10_399)) } != nil)
    #expect(try refusal { try $0.insert(table, FreshIndexTests.row(10_400)) } == nil)
  }

  @Test func whatASavepointUndoesIsUndoneInIndexes() throws {
    let (_, engine, table) = try filled(rows: 1_500)
    let (project, id) = (table.index("project"), table.index("id"))
    try engine.write { write in
      let kept = try write.insert(table, FreshIndexTests.row(2_000))
      try write.beginSavepoint()
      _ = try write.set(table.column(named: "project"), kept, word: 50)
      let gone = try write.insert(table, FreshIndexTests.row(2_001))
      #expect(try write.key(in: id, equalTo: 2_001) == gone)
      #expect(try write.count(in: project, equalTo: 50) == 1)
      try write.delete(table.id, kept)
      try write.rollbackToSavepoint()
      #expect(try write.key(in: id, equalTo: 2_001) == nil)
      #expect(try write.key(in: id, equalTo: 2_000) == kept)
      #expect(try write.count(in: project, equalTo: 50) == 0)
      #expect(try write.count(in: project, .all) == 1_501)
      try write.beginSavepoint()
      // Beyond the end of the chunk, so that the fresh rows become one.
      for id in 3_000..<4_200 { try write.insert(table, FreshIndexTests.row(id)) }
      try write.rollbackToSavepoint()
      try write.insert(table, FreshIndexTests.row(3_500))
    }
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.count(in: project, .all) == 1_502)
    #expect(try read.count(in: id, .all) == 1_502)
    #expect(try read.key(in: id, equalTo: 3_500) != nil)
    #expect(try read.key(in: id, equalTo: 3_501) == nil)
    #expect(try faults(engine) == [])
  }

  @Test func whoStopsEarlyReadsNoMoreThanItAskedFor() throws {
    let (store, engine, table) = try filled(rows: 20_000)
    try engine.write { write in for id in 20_000..<20_020 { try write.insert(table, FreshIndexTests.row(id)) } }
    for descending in [false, true] {
      let read = try engine.beginRead()
      defer { read.end() }
      _ = store.take()
      var found: [Int64] = []
      try read.keys(in: table.index("id"), .all, descending: descending) { keys in
        found += keys
        return found.count >= 50 ? .stop : .proceed
      }
      #expect(found.prefix(50).elementsEqual(descending ? (0..<50).map { Int64(20_020 - $0) } : (1...50).map { Int64($0) }))
      #expect(store.take().readSpaces[.indexBlock] ?? 0 <= 1)
    }
  }

  @Test func anIndexThatIsAddedHasWhatIsInChunks() throws {
    let store = CountingStore(MemoryStore(pageSize: 4_096))
    let engine = try ColumnEngine(store, OpenOptions())
    let plain = Schema([ObjectSchema("Task", .scalar("id", .int64, primaryKey: true), .scalar("name", .string))])
    let old = try #require(try engine.adopt(plain)["Task"])
    try engine.write { write in for id in 0..<2_000 { try write.insert(old, ["id": .int(Int64(id)), "name": .string("n\(id)")]) } }
    try engine.write { write in for id in 2_000..<2_010 { try write.insert(old, ["id": .int(Int64(id)), "name": .string("n\(id)")]) } }
    let grown = Schema([ObjectSchema("Task", .scalar("id", .int64, primaryKey: true), .scalar("name", .string, unique: true))])
    let table = try #require(try engine.adopt(grown)["Task"])
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.count(in: table.index("name"), .all) == 2_010)
    #expect(try read.key(in: table.index("name"), equal: [.string("n2005")]) == ObjectKey(2_006))
    #expect(try faults(engine) == [])
    try engine.write { try $0.insert(table, ["id": .int(2_010), "name": .string("m")]) }
    // A value that a fresh row has twice stops the index.
    let again = try ColumnEngine(MemoryStore(pageSize: 4_096), OpenOptions())
    let twice = try #require(try again.adopt(plain)["Task"])
    try again.write { write in for id in 0..<2 { try write.insert(twice, ["id": .int(Int64(id)), "name": .string("same")]) } }
    #expect(throws: StorageError.self) { try again.adopt(grown) }
  }

  // MARK: Formats

  @Test func aFileSaysThatItsIndexesLeaveFreshRowsOut() throws {
    let store = MemoryStore(pageSize: 4_096)
    // With its last engine a store in memory is closed.
    let made = try filled(store, rows: 10)
    defer { withExtendedLifetime(made) {} }
    // The builds that do not know of it know the formats up to 5.
    #expect(try store.format() == 6)
  }

  @Test(arguments: [1, 5]) func aFileOfAnOlderFormatStaysAsItIs(_ format: Int) throws {
    let base = try MemoryStore.ofOlderFormat(format)
    let (store, engine, table) = try filled(base, rows: 2_000)
    var key: ObjectKey?
    try engine.write { key = try $0.insert(table, FreshIndexTests.row(2_000, code: "A", parent: ObjectKey(1))) }
    let puts = store.take().puts
    #expect(puts == [.tableRecord: 1, .freshRows: 1, .indexRecord: 4, .indexBlock: 4, .backlinkRecord: 1, .backlinkBlock: 1, .history: 1])
    #expect(try base.format() == format)
    // As builds of before read it: a look-up finds the row by its entry.
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.key(in: table.index("id"), equalTo: 2_000) == key)
    #expect(try read.key(in: table.index("code"), equal: [.string("A")]) == key)
    var sources: [ObjectKey] = []
    try read.sources(of: ObjectKey(1), through: table.column(named: "parent")) { keys in
      sources += keys.map { ObjectKey($0) }
      return .proceed
    }
    #expect(sources.count == 1)
    #expect(sources.first == key)
    #expect(try read.count(in: table.index("project"), .all) == 2_001)
    #expect(throws: StorageError.self) { try engine.write { try $0.insert(table, FreshIndexTests.row(2_000)) } }
    try engine.write { write in for id in 2_001..<2_700 { try write.insert(table, FreshIndexTests.row(id)) } }
    #expect(try faults(engine) == [])
  }

  @Test func anEntryOfAFreshRowIsFoundByVerification() throws {
    let base = try MemoryStore.ofOlderFormat()
    let made = try filled(base, rows: 20)
    defer { withExtendedLifetime(made) {} }
    let header = FileHeader(pageSize: base.traits.pageSize, pageOverhead: base.traits.pageOverhead)
    try base.set(header: header.encoded(format: FileHeader.newest))
    let found = try faults(try ColumnEngine(base, OpenOptions()))
    #expect(found.contains { $0.contains("is of a fresh row") }, "\(found)")
  }

  // MARK: Histories

  @Test(arguments: 0..<3) func randomHistoriesOfTwoEnginesShowWhatThePlainOneShows(_ round: Int) throws {
    // Of a page of 512 bytes, a dozen rows are a chunk.
    let base = round == 2 ? try MemoryStore.ofOlderFormat(pageSize: 512) : MemoryStore(pageSize: round == 0 ? 512 : 2_048)
    let shared = SharedStore(base)
    var run = try IndexRun(.forTest("histories of fresh rows and indexes, \(round)")) { try ColumnEngine(shared, OpenOptions()) }
    try run.play(environmentNumber("VIVARIUM_INDEX_COMMITS", default: 150))
    #expect(try base.format() == (round == 2 ? 3 : 6))
  }
}
