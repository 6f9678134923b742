import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Words that are read and set where they lie: whatever else a transaction does, they are what the long way gives.
@Suite struct PlacesTests {
  private let engine: any StorageEngine
  private let table: TableEntry
  private let columns: [ColumnID]
  private static let rows = 400

  init() throws {
    // Small pages, and so several chunks.
    engine = try MemoryBackend(pageSize: 512).open(OpenOptions())
    let schema = Schema([
      ObjectSchema(
        "Thing", .scalar("id", .int64, primaryKey: true), .scalar("plain", .int64), .scalar("maybe", .int64, optional: true),
        .scalar("small", .int8), .scalar("ratio", .double), .scalar("sorted", .int64, indexed: true),
        .scalar("flag", .bool))
    ])
    let table = try #require(try engine.adopt(schema)["Thing"])
    self.table = table
    columns = ["plain", "maybe", "small", "ratio", "sorted", "flag"].map { table.column(named: $0) }
    try engine.write { write in for id in 0..<PlacesTests.rows { try write.insert(table, ["id": .int(Int64(id))]) } }
  }

  private func word(_ random: inout SeededGenerator, _ column: Int) -> Int64? {
    switch column {
    case 1 where random.below(3) == 0: nil
    case 2: Int64(random.below(200)) - 100
    case 3: Int64(bitPattern: Double(random.below(1_000)).bitPattern)
    case 5: Int64(random.below(2))
    default: Int64(random.below(1_000_000)) - 500_000
    }
  }

  private func check(_ reading: any StorageReading, _ expected: [Int64: [Int64?]], _ random: inout SeededGenerator) throws {
    for _ in 0..<50 {
      let key = Int64(random.below(PlacesTests.rows + 50) + 1)
      let column = random.below(columns.count)
      guard let row = expected[key] else {
        #expect(throws: StorageError.self) { try reading.word(columns[column], ObjectKey(key)) }
        continue
      }
      #expect(try reading.word(columns[column], ObjectKey(key)) == row[column], "\(column) of \(key)")
    }
  }

  @Test func wordsAreAsTheyWereSetWhateverHappensBetween() throws {
    var random = SeededGenerator.forTest()
    var expected: [Int64: [Int64?]] = [:]
    for key in 1...Int64(PlacesTests.rows) { expected[key] = [0, nil, 0, 0, 0, 0] }
    var nextID = Int64(PlacesTests.rows)
    for _ in 0..<12 {
      let snapshot = try engine.beginRead()
      let before = expected
      let write = try engine.beginWrite(.never)
      var marks: [[Int64: [Int64?]]] = []
      for _ in 0..<60 {
        for _ in 0..<20 {
          let key = Int64(random.below(PlacesTests.rows) + 1)
          let column = random.below(columns.count)
          let new = word(&random, column)
          guard expected[key] != nil else { continue }
          try write.set(columns[column], ObjectKey(key), word: new)
          expected[key]?[column] = new
        }
        switch random.below(8) {
        case 0:
          let key = Int64(random.below(PlacesTests.rows) + 1)
          if expected.removeValue(forKey: key) != nil { try write.delete(table.id, ObjectKey(key)) }
        case 1:
          nextID += 1
          let key = try write.insert(table, ["id": .int(nextID)])
          expected[key.rawValue] = [0, nil, 0, 0, 0, 0]
        case 2:
          try write.beginSavepoint()
          marks.append(expected)
        case 3 where !marks.isEmpty:
          try write.rollbackToSavepoint()
          expected = marks.removeLast()
        case 4 where !marks.isEmpty:
          try write.releaseSavepoint()
          marks.removeLast()
        default: break
        }
        try check(write, expected, &random)
      }
      for _ in marks { try write.releaseSavepoint() }
      try check(snapshot, before, &random)
      _ = try write.commit(CommitRecord(), .relaxed)
      let after = try engine.beginRead()
      for _ in 0..<6 { try check(after, expected, &random) }
      after.end()
      #expect(throws: StorageError.self) { try after.word(columns[0], ObjectKey(1)) }
    }
  }

  @Test func lookUpsSeeWhatTheirTransactionSees() throws {
    let index = table.index("id")
    let snapshot = try engine.beginRead()
    for id in 0..<Int64(PlacesTests.rows) { #expect(try snapshot.key(in: index, equalTo: id) == ObjectKey(id + 1)) }
    let write = try engine.beginWrite(.never)
    #expect(try write.key(in: index, equalTo: 7) == ObjectKey(8))
    try write.delete(table.id, ObjectKey(8))
    #expect(try write.key(in: index, equalTo: 7) == nil)
    let key = try write.insert(table, ["id": .int(7)])
    #expect(try write.key(in: index, equalTo: 7) == key)
    #expect(try write.key(in: index, equalTo: 6) == ObjectKey(7))
    #expect(try snapshot.key(in: index, equalTo: 7) == ObjectKey(8))
    #expect(try snapshot.key(in: index, equalTo: Int64(PlacesTests.rows)) == nil)
    #expect(try snapshot.key(in: index, equalTo: -1) == nil)
    write.end()
    snapshot.end()
    #expect(throws: StorageError.self) { try snapshot.key(in: index, equalTo: 7) }
    #expect(throws: StorageError.self) { try write.key(in: index, equalTo: 7) }
  }

  /// They begin where a chunk does, and become one afterwards, whose columns are used again for the next fresh rows.
  @Test func aFreshRowThatASavepointRestoredIsReadWhereItIs() throws {
    let engine = try ColumnEngine(MemoryStore(pageSize: 512), OpenOptions())
    let thing = try #require(try engine.adopt(Schema([ObjectSchema("Thing", .scalar("plain", .int64))]))["Thing"])
    let (plain, rows) = (thing.column(named: "plain"), Int64(engine.header.rowsPerChunk))
    let key = ObjectKey(rows + 1)
    try engine.write { write in
      for number in 1...rows + 1 { try write.insert(thing, ["plain": .int(number)]) }
      // From now on the words of the column are read where they lie.
      #expect(try write.word(plain, ObjectKey(1)) == 1)
      for number in rows + 2...rows * 2 { try write.insert(thing, ["plain": .int(number)]) }
      try write.beginSavepoint()
      _ = try write.set(plain, key, word: 0)
      try write.rollbackToSavepoint()
      try write.insert(thing, ["plain": .int(rows * 2 + 1)])
      #expect(try write.word(plain, key) == rows + 1)
      _ = try write.set(plain, key, word: -1)
      #expect(try write.word(plain, ObjectKey(rows * 2 + 1)) == rows * 2 + 1)
    }
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.word(plain, key) == -1 && read.word(plain, ObjectKey(rows * 2 + 1)) == rows * 2 + 1)
  }
}
