import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Numbers of many rows of one snapshot, which are read by its lanes, beside the same rows read one by one.
@Suite struct LaneTests {
  private let store: CountingStore
  private let engine: ColumnEngine
  private let table: TableEntry

  init() throws {
    store = CountingStore(MemoryStore(pageSize: 512))
    engine = try ColumnEngine(store, OpenOptions())
    table = try #require(
      try engine.adopt(
        Schema([ObjectSchema("Task", .scalar("rank", .int64), .scalar("level", .double, optional: true), .scalar("done", .bool))]))["Task"])
  }

  /// Chunks that are full, with holes, with few rows left and gone altogether, and some fresh rows.
  private func fill(_ random: inout SeededGenerator, count: Int) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try engine.write { write in
      for i in 0..<count {
        let level: Value = random.oneIn(4) ? .null : .double(Double(random.below(100)))
        keys.append(try write.insert(table, ["rank": .int(Int64(i)), "level": level, "done": .bool(random.oneIn(2))]))
      }
    }
    let rows = engine.header.rowsPerChunk
    var living: [ObjectKey] = []
    try engine.write { write in
      for (i, key) in keys.enumerated() {
        // By chunk: all stay, most stay, few stay, none stays.
        let stays = [true, !random.oneIn(5), random.oneIn(20), false][i / rows % 4]
        if stays { living.append(key) } else { try write.delete(table.id, key) }
      }
    }
    try engine.write { write in
      for i in 0..<5 { living.append(try write.insert(table, ["rank": .int(Int64(count + i)), "level": .null, "done": .bool(true)])) }
    }
    return living
  }

  private func scanned(_ reading: any ReadTransaction, _ columns: [String], from start: Int64 = 1) throws -> [[Int64?]] {
    var rows: [[Int64?]] = []
    try reading.scan(table.id, try columns.map { try #require(table[$0]).id }, from: ObjectKey(start), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) {
        let words = (0..<columns.count).map { column -> Int64? in
          batch.columns[column].isNull(at: row) ? nil : batch.columns[column].word(at: row)
        }
        rows.append([batch.key(at: row).rawValue] + words)
      }
      return .proceed
    }
    return rows
  }

  @Test(arguments: [0, 3, 60, 900]) func scansThatComeAgainGiveTheRowsThatAreThere(_ count: Int) throws {
    var random = SeededGenerator.forTest("lanes over \(count)")
    let keys = try fill(&random, count: count)
    let reading = try engine.beginRead()
    defer { reading.end() }
    let columns = ["level", "rank", "done"]
    let single = try keys.map { key in
      [key.rawValue] + (try columns.map { try reading.word(table.column(named: $0), key) })
    }
    for _ in 0..<3 { #expect(try scanned(reading, columns) == single) }
    #expect(try scanned(reading, ["done"]) == single.map { [$0[0], $0[3]] })
    let middle = keys[keys.count / 2].rawValue
    #expect(try scanned(reading, columns, from: middle) == single.filter { ($0[0] ?? 0) >= middle })
  }

  @Test(arguments: [3, 60, 900]) func manyRowsReadAtOnceAreThoseReadOneByOne(_ count: Int) throws {
    var random = SeededGenerator.forTest("gathering from \(count)")
    let keys = try fill(&random, count: count).map(\.rawValue)
    for round in 0..<20 {
      let reading = try engine.beginRead()
      defer { reading.end() }
      if round % 2 == 0 { _ = try scanned(reading, ["rank"]) }
      let gathering = try #require(reading.powers.gathering)
      // Ascending as a rule, and in any order and more than once as it may be.
      var asked = keys.filter { _ in !random.oneIn(3) }
      if round % 3 == 0 { asked.shuffle(using: &random) }
      if round % 5 == 0 { asked += asked }
      for name in ["rank", "level", "done"] {
        let column = table.column(named: name)
        var (words, nulls) = ([Int64](repeating: 0, count: asked.count), [Bool](repeating: false, count: asked.count))
        try asked.withUnsafeBufferPointer { asked in
          try words.withUnsafeMutableBufferPointer { words in
            try nulls.withUnsafeMutableBufferPointer { nulls in
              guard let to = words.baseAddress, let toNulls = nulls.baseAddress else { return }
              try gathering.words(column, of: asked, into: to, nulls: toNulls)
            }
          }
        }
        let single = try asked.map { try reading.word(column, ObjectKey($0)) }
        #expect(zip(words, nulls).map { $1 ? nil : $0 } == single, "\(name), round \(round), seed \(random.seed)")
      }
    }
  }

  @Test func readingARowThatIsGoneIsAnErrorAmongManyToo() throws {
    var random = SeededGenerator.forTest()
    let keys = try fill(&random, count: 900).map(\.rawValue)
    let gone = Int64(engine.header.rowsPerChunk * 3 + 1)
    #expect(!keys.contains(gone))
    let reading = try engine.beginRead()
    defer { reading.end() }
    let gathering = try #require(reading.powers.gathering)
    var asked = keys
    asked.insert(gone, at: keys.count / 2)
    let room = UnsafeMutablePointer<Int64>.allocate(capacity: asked.count)
    let nulls = UnsafeMutablePointer<Bool>.allocate(capacity: asked.count)
    defer {
      room.deallocate()
      nulls.deallocate()
    }
    let error = #expect(throws: StorageError.self) {
      try asked.withUnsafeBufferPointer { try gathering.words(table.column(named: "rank"), of: $0, into: room, nulls: nulls) }
    }
    #expect(error?.code == .objectDeleted)
  }

  @Test func aScanThatComesAgainReadsNoEntry() throws {
    var random = SeededGenerator.forTest()
    _ = try fill(&random, count: 900)
    let reading = try engine.beginRead()
    defer { reading.end() }
    _ = try scanned(reading, ["rank", "done"])
    _ = store.take()
    _ = try scanned(reading, ["done", "rank"])
    let counts = store.take()
    #expect(counts.reads == 0 && counts.visits == 0)
    // A column more reads that column alone, a chunk at a time.
    _ = try scanned(reading, ["rank", "level"])
    #expect(store.take().readSpaces.keys.allSatisfy { $0 == .column })
  }
}
