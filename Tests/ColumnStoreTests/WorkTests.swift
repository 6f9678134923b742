import Foundation
import StorageInterface
import StorageMemory
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// How much is read and written for what is asked: what a clock cannot test.
@Suite struct WorkTests {
  private let store: CountingStore
  private let engine: ColumnEngine
  private let table: TableEntry

  private static let schema = Schema([
    ObjectSchema(
      "Task", .scalar("id", .int64, primaryKey: true), .scalar("title", .string), .scalar("priority", .int64),
      .scalar("project", .int64, indexed: true))
  ])

  /// Rows of three chunks, and some fresh ones.
  private static let rows = 3_050

  init() throws {
    store = CountingStore(MemoryStore(pageSize: 4_096))
    engine = try ColumnEngine(store, OpenOptions())
    table = try #require(try engine.adopt(WorkTests.schema)["Task"])
    try WorkTests.fill(engine, table)
    _ = store.take()
  }

  private static func fill(_ engine: ColumnEngine, _ table: TableEntry) throws {
    for part in [0..<rows - 20, rows - 20..<rows] {
      try engine.write { write in for id in part { try write.insert(table, row(id)) } }
    }
  }

  private static func row(_ id: Int) -> [String: Value] {
    // Scattered and without gaps, as keys from outside are.
    ["id": .int(Int64(id * 1_003 % 3_251)), "title": .string("Task \(id)"), "priority": .int(Int64(id % 10)),
      "project": .int(Int64(id % 50))]
  }

  @Test func aSmallCommitWritesTheFreshRows() throws {
    for id in [WorkTests.rows, WorkTests.rows + 1] {
      try engine.write { try $0.insert(table, WorkTests.row(id)) }
      let counts = store.take()
      #expect(counts.puts == [.tableRecord: 1, .freshRows: 1, .history: 1])
      #expect(counts.deletes.isEmpty)
      // A page of fresh rows at most.
      #expect(counts.bytes < 4_096 + 100)
      #expect(counts.visits == 0)
      // The catalog, the table's record and rows, and of the index that has to be unique its record and a block.
      #expect(counts.reads <= 5)
    }
  }

  /// They are in no index yet, and whoever asks one would read each of them.
  @Test(arguments: [1_500, 20_000]) func longKeysAreNotLeftToAllWhoAskAnIndex(_ length: Int) throws {
    let schema = Schema([ObjectSchema("Page", .scalar("address", .string, unique: true), .scalar("text", .string))])
    let page = try #require(try engine.adopt(Schema(WorkTests.schema.objects + schema.objects))["Page"])
    func address(_ number: Int) -> Value { .string("\(number) " + String(repeating: "x", count: length)) }
    for number in 0..<200 {
      _ = store.take()
      try engine.write { try $0.insert(page, ["address": address(number)]) }
      #expect(store.take().readSpaces[.externalValue] ?? 0 <= 8, "commit \(number)")
      let read = try engine.beginRead()
      defer { read.end() }
      #expect(try read.key(in: page.index("address"), equal: [address(number)]) == ObjectKey(Int64(number + 1)))
      #expect(store.take().readSpaces[.externalValue] ?? 0 <= 8, "snapshot \(number)")
    }
    // Long texts that are in no index are not in the way of small commits.
    for _ in 0..<5 { try engine.write { try $0.insert(page, ["address": .string("\($0.version)"), "text": address(0)]) } }
    #expect(store.take().puts[.freshRows] == 1)
  }

  /// As builds have made it that put fresh rows into indexes.
  @Test func inAFileOfAnOlderFormatASmallCommitWritesTheFreshRowsAndABlockOfEachIndex() throws {
    let older = CountingStore(try MemoryStore.ofOlderFormat())
    let engine = try ColumnEngine(older, OpenOptions())
    try WorkTests.fill(engine, try #require(try engine.adopt(WorkTests.schema)["Task"]))
    _ = older.take()
    try engine.write { try $0.insert(table, WorkTests.row(WorkTests.rows)) }
    let counts = older.take()
    #expect(counts.puts == [.tableRecord: 1, .freshRows: 1, .indexRecord: 2, .indexBlock: 2, .history: 1])
    #expect(counts.deletes.isEmpty)
    // Two blocks and the fresh rows, each of a page at most.
    #expect(counts.bytes < 3 * 4_096)
    #expect(counts.visits == 0)
    // The catalog, the table's record and rows, and of each index its record and a block.
    #expect(counts.reads <= 7)
  }

  @Test func oldCommitRecordsGoManyAtATime() throws {
    let store = CountingStore(MemoryStore(pageSize: 4_096))
    let engine = try ColumnEngine(store, OpenOptions(historyLimit: 1_000))
    let table = try #require(try engine.adopt(WorkTests.schema)["Task"])
    var deletes: [Int] = []
    for id in 0..<1_100 {
      try engine.write { try $0.insert(table, WorkTests.row(id)) }
      let counts = store.take()
      deletes.append(counts.deletes[.history] ?? 0)
      if deletes.last == 0 { #expect(counts.visits == 0) }
    }
    // The first was of the catalog, so the commits end with version 1,101.
    #expect(deletes.reduce(0, +) == 100 && deletes.filter { $0 > 0 } == [Int](repeating: 10, count: 10))
    let read = try engine.beginRead()
    defer { read.end() }
    var versions: [UInt64] = []
    try read.history(after: Version(101)) { record in
      versions.append(record.version.rawValue)
      return .proceed
    }
    #expect(versions == Array(102...1_101))
    #expect(throws: StorageError.self) { try read.history(after: Version(99)) { _ in .proceed } }
    // Few records are kept exactly.
    #expect(ColumnWrite.trimmingStep(50) == 1 && ColumnWrite.trimmingStep(10_000) == 64)
  }

  @Test(arguments: [1, FileHeader.newest]) func sideEntriesAreLookedUpFromTheFirstOnAlone(_ format: Int) throws {
    let store = CountingStore(format == 1 ? try MemoryStore.ofOlderFormat() : MemoryStore(pageSize: 4_096))
    let engine = try ColumnEngine(store, OpenOptions())
    let table = try #require(try engine.adopt(WorkTests.schema)["Task"])
    try WorkTests.fill(engine, table)
    func asks(_ body: (any SideWriting) throws -> Void) throws -> CountingStore.Counts {
      _ = store.take()
      try engine.write { write in
        try body(try #require(write.writePowers.sides))
        try write.insert(table, WorkTests.row(WorkTests.rows + Int(write.version.rawValue)))
      }
      return store.take()
    }
    let local = try asks { _ in }
    let asked = try asks { sides in
      #expect(try sides.side([1]) == nil)
      try sides.setSide([1], nil)
      try sides.sides(from: [], below: nil) { _, _ in .proceed }
    }
    #expect(local.readSpaces[.side] == nil && asked.readSpaces[.side] == nil && asked.puts == local.puts)
    let first = try asks { try $0.setSide([1], [1]) }
    // The catalog says from now on that there are some, and the header of a file that older builds can open that they do not know them.
    #expect(first.puts[.side] == 1 && first.puts[.catalog] == 1 && first.puts[.header] == (format == 1 ? 1 : nil))
    let next = try asks { try $0.setSide([1], [2]) }
    #expect(next.puts[.side] == 1 && next.puts[.catalog] == nil && next.puts[.header] == nil && next.readSpaces[.side] == nil)
    #expect(try asks { _ in }.puts == local.puts)
  }

  @Test func aTestForNullReadsNoLongValue() throws {
    let schema = Schema([ObjectSchema("Film", .scalar("minutes", .int64), .scalar("picture", .data, optional: true))])
    let film = try #require(try engine.adopt(Schema(WorkTests.schema.objects + schema.objects))["Film"])
    try engine.write { write in
      for i in 0..<1_500 {
        let picture = i % 3 == 0 ? Value.null : .data(Data(repeating: 1, count: 5_000))
        try write.insert(film, ["minutes": .int(Int64(i)), "picture": picture])
      }
    }
    _ = store.take()
    var present = 0
    let read = try engine.beginRead()
    try read.scan(film.id, [film.id("picture")], from: ObjectKey(1), hints: [ZoneHint(presenceOf: 0)]) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) && !batch.columns[0].isNull(at: row) { present += 1 }
      return .proceed
    }
    #expect(present == 1_000)
    // The table, and of two chunks their maps and the column; of a thousand pictures none.
    #expect(store.take().reads < 12)
  }

  @Test func updatesRewriteOneColumnOfTheChunksTheyTouch() throws {
    let priority = table.column(named: "priority")
    let keys = [1, 2, 3, 500, 1_500, 1_501].map { ObjectKey(Int64($0)) }
    try engine.write { write in for key in keys { try write.set(priority, key, word: 77) } }
    let counts = store.take()
    let chunks = Set(keys.map { ($0.rawValue - 1) / Int64(engine.header.rowsPerChunk) })
    #expect(counts.puts[.column] == chunks.count)
    #expect(Set(counts.puts.keys).isSubset(of: [.column, .tableRecord, .history]))
    // Of each chunk its map and the column.
    #expect(counts.reads <= 2 + chunks.count * 2 + 1)
  }

  @Test func lookUpsReadEachEntryOnce() throws {
    let read = try engine.beginRead()
    let (index, priority) = (table.index("id"), table.column(named: "priority"))
    func lookUpAll() throws -> Int {
      _ = store.take()
      for id in 0..<WorkTests.rows {
        let key = try #require(try read.key(in: index, equalTo: Int64(id * 1_003 % 3_251)))
        #expect(try read.word(priority, key) == Int64(id % 10))
      }
      let counts = store.take()
      return counts.reads + counts.visits
    }
    let chunks = WorkTests.rows / engine.header.rowsPerChunk + 1
    // Entries of the index take four bytes or more, of blocks that are at least half full.
    let blocks = WorkTests.rows * 8 / engine.header.blockLimit + 2
    #expect(try lookUpAll() <= 4 + chunks * 2 + blocks * 2)
    #expect(try lookUpAll() == 0)
  }

  @Test func aBatchIsLetGoOfWhileItIsWritten() throws {
    final class Watched {
      weak var value: ValueBuffer?
      init(_ value: ValueBuffer?) { self.value = value }
    }
    var batch = KeyValueBatch(version: Version(1))
    for i in 0..<100 { batch.put(.history(UInt64(i)), ValueBuffer([UInt8](repeating: 1, count: 1_000))) }
    var passed: [Watched] = []
    batch.drain { _, value in
      #expect(passed.allSatisfy { $0.value == nil } && value?.count == 1_000)
      passed.append(Watched(value))
    }
    #expect(passed.count == 100)
  }

  @Test func aCommitHoldsNothingBesideItsBatch() throws {
    let store = WatchingStore(MemoryStore(pageSize: 4_096))
    let engine = try ColumnEngine(store, OpenOptions())
    let table = try #require(
      try engine.adopt(Schema([ObjectSchema("Task", .scalar("id", .int64, primaryKey: true), .scalar("title", .string))]))["Task"])
    try engine.write { write in
      for id in 0..<5_000 { try write.insert(table, ["id": .int(Int64(id)), "title": .string("Task \(id)")]) }
    }
    let kept = store.kept.withLock { $0 }
    // The fresh rows alone, less than a page, are kept for the next write.
    #expect(kept <= 1)
  }
}
