import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Words that are set are written together, and nobody can tell.
@Suite struct PendingWordsTests {
  private static let schema = Schema([
    ObjectSchema(
      "Task", .scalar("id", .int64, primaryKey: true), .scalar("priority", .int64), .scalar("due", .double, optional: true),
      .scalar("done", .bool), .scalar("project", .int64, indexed: true), .scalar("title", .string))
  ])

  private func fill(_ place: Place, _ count: Int) throws -> (engine: SQLiteEngine, table: TableEntry) {
    let engine = try place.open()
    let table = try #require(try engine.adopt(Self.schema)["Task"])
    try engine.write { write in
      for id in 0..<count {
        try write.insert(table, ["id": .int(Int64(id)), "priority": .int(Int64(id % 10)), "title": .string("Task \(id)")])
      }
    }
    return (engine, table)
  }

  private func change(_ write: any WriteTransaction, _ column: ColumnID, _ key: ObjectKey, _ word: Int64?) throws {
    try write.set(column, key, word: word)
  }

  @Test func updatesOfWordsTakeOneStatementAtTheCommit() throws {
    let place = Place()
    let (engine, table) = try fill(place, 500)
    let priority = table.column(named: "priority")
    var uses: [Int] = []
    for round in 0..<3 {
      let write = try engine.beginWrite(.never)
      let before = SQLiteEngine.useCount(of: write)
      for i in 0..<500 { try change(write, priority, ObjectKey(Int64(i * 77 % 500) + 1), Int64(100 + round)) }
      // One to read each; none to set it.
      #expect(SQLiteEngine.useCount(of: write) - before == 500)
      _ = try write.commit(CommitRecord(), .relaxed)
      uses.append(SQLiteEngine.useCount(of: write) - before - 500)
    }
    // The update, the record and the end.
    #expect(uses.last == 3)
    let read = try engine.beginRead()
    #expect(try read.total(of: priority, .sum) == 102 * 500)
  }

  @Test func everyWayOfReadingKnowsWhatWasSet() throws {
    let place = Place()
    let (engine, table) = try fill(place, 20)
    let (priority, due) = (table.column(named: "priority"), table.column(named: "due"))
    let write = try engine.beginWrite(.never)
    let windows = try #require(write.powers.windows)
    var expected = (0..<20).map { Int64($0 % 10) }
    for round in 0..<40 {
      let i = round * 7 % 20
      let key = ObjectKey(Int64(i) + 1)
      expected[i] = Int64(1_000 + round)
      try change(write, priority, key, expected[i])
      try change(write, due, key, round % 2 == 0 ? nil : Int64(bitPattern: Double(round).bitPattern))
      #expect(try write.word(priority, key) == expected[i])
      #expect(try write.value(due, key) == (round % 2 == 0 ? .null : .double(Double(round))))
      switch round % 6 {
      case 0:
        var found: [Int64] = []
        try write.scan(table.id, [priority.property], from: ObjectKey(1), hints: []) { batch in
          for row in 0..<batch.count { found.append(batch.columns[0].word(at: row)) }
          return .proceed
        }
        #expect(found == expected)
      case 1: #expect(try write.total(of: priority, .sum) == Int128(expected.reduce(0, +)))
      case 2:
        let window = try #require(try windows.window(priority, containing: key))
        #expect(window.vector.word(at: Int(key.rawValue - window.firstKey)) == expected[i])
      case 3:
        // The look-up reads the column that was read after the last ones.
        #expect(try write.key(in: table.index("id"), equalTo: Int64(i)) == key)
        #expect(try write.word(priority, key) == expected[i])
      case 4: for i in 0..<20 { #expect(try write.word(priority, ObjectKey(Int64(i) + 1)) == expected[i]) }
      default: #expect(try write.key(in: table.index("id"), equalTo: Int64((i + 1) % 20)) != nil)
      }
    }
    _ = try write.commit(CommitRecord(), .relaxed)
    let read = try engine.beginRead()
    for i in 0..<20 { #expect(try read.word(priority, ObjectKey(Int64(i) + 1)) == expected[i]) }
  }

  @Test func anIndexedColumnIsWrittenAtOnceAndSaysWhatItRefuses() throws {
    let place = Place()
    let (engine, table) = try fill(place, 5)
    let write = try engine.beginWrite(.never)
    let id = table.column(named: "id")
    #expect(try write.word(id, ObjectKey(1)) == 0)
    let refused = #expect(throws: StorageError.self) { try write.set(id, ObjectKey(1), word: 3) }
    #expect(refused?.code == .uniqueViolation && refused?.conflictingKey == ObjectKey(4))
    try change(write, table.column(named: "project"), ObjectKey(2), 7)
    #expect(try write.count(in: table.index("project"), equalTo: 7) == 1)
    let done = table.column(named: "done")
    #expect(try write.word(done, ObjectKey(1)) == 0)
    let mismatch = #expect(throws: StorageError.self) { try write.set(done, ObjectKey(1), word: 2) }
    #expect(mismatch?.code == .typeMismatch)
    _ = try write.commit(CommitRecord(), .relaxed)
  }

  @Test func anObjectThatIsGoneCannotBeSetThoughItWasReadBefore() throws {
    let place = Place()
    let (engine, table) = try fill(place, 5)
    let priority = table.column(named: "priority")
    let write = try engine.beginWrite(.never)
    try change(write, priority, ObjectKey(2), 50)
    try write.delete(table.id, ObjectKey(2))
    let gone = #expect(throws: StorageError.self) { try write.set(priority, ObjectKey(2), word: 51) }
    #expect(gone?.code == .objectDeleted)
    try write.beginSavepoint()
    let new = try write.insert(table, ["id": .int(100)])
    try change(write, priority, new, 5)
    try change(write, priority, ObjectKey(1), 60)
    try write.rollbackToSavepoint()
    #expect(throws: StorageError.self) { try write.set(priority, new, word: 6) }
    #expect(try write.word(priority, ObjectKey(1)) == 0)
    _ = try write.commit(CommitRecord(), .relaxed)
    #expect(try engine.beginRead().count(table.id) == 4)
  }

  @Test func aDiskThatIsFullWhenTheyAreWrittenSpoilsTheWriteAndNotTheStore() throws {
    let place = Place()
    let table: TableEntry
    do {
      let (engine, filled) = try fill(place, 3_000)
      table = filled
      engine.close()
    }
    var backend = place.backend
    // Not one more page.
    backend.pagesMax = 1
    let engine = try backend.open(OpenOptions())
    let title = table.column(named: "title")
    let write = try engine.beginWrite(.never)
    try change(write, table.column(named: "priority"), ObjectKey(1), 1 << 60)
    var failure: StorageError?
    for key in Int64(1)...3_000 where failure == nil {
      do { try write.set(title, ObjectKey(key), .string(String(repeating: "x", count: 3_000))) } catch { failure = error }
    }
    #expect(failure?.code == .outOfDiskSpace && failure?.scope == .transaction)
    #expect(throws: StorageError.self) { try write.commit(CommitRecord(), .full) }
    write.end()
    let read = try engine.beginRead()
    #expect(try read.word(table.column(named: "priority"), ObjectKey(1)) == 0)
  }

  @Test func whateverIsDoneInBetweenTheTableIsAsAPlainOne() throws {
    var random = SeededGenerator.forTest()
    let place = Place()
    var (engine, table) = try fill(place, 30)
    let (priority, due) = (table.column(named: "priority"), table.column(named: "due"))
    struct Row: Equatable { var priority: Int64, due: Int64? }
    var rows: [Int64: Row] = [:]
    for id in 0..<30 { rows[Int64(id) + 1] = Row(priority: Int64(id % 10), due: nil) }
    var nextID: Int64 = 1_000
    for _ in 0..<60 {
      var edited = rows
      var marks: [[Int64: Row]] = []
      let write = try engine.beginWrite(.never)
      for _ in 0..<40 {
        let key = Int64(1 + random.below(40))
        switch random.below(16) {
        case 0...6 where edited[key] != nil:
          let word = Int64(random.below(1 << 20))
          try change(write, priority, ObjectKey(key), word)
          edited[key]?.priority = word
        case 7...8 where edited[key] != nil:
          let word = random.oneIn(3) ? nil : Int64(bitPattern: Double(random.below(1 << 20)).bitPattern)
          try change(write, due, ObjectKey(key), word)
          edited[key]?.due = word
        case 9:
          nextID += 1
          edited[try write.insert(table, ["id": .int(nextID)]).rawValue] = Row(priority: 0, due: nil)
        case 10:
          let gone = try write.delete(table.id, all: [key, key + 1, key + 40])
          #expect(Set(gone) == Set([key, key + 1, key + 40].filter { edited[$0] != nil }))
          for key in gone { edited[key] = nil }
        case 11:
          try write.beginSavepoint()
          marks.append(edited)
        case 12:
          if let mark = marks.popLast() {
            try write.rollbackToSavepoint()
            edited = mark
          }
        case 13: if marks.popLast() != nil { try write.releaseSavepoint() }
        case 14: #expect(try write.total(of: priority, .sum).map { $0 == Int128(edited.values.reduce(0) { $0 + $1.priority }) } ?? true)
        default:
          if let row = edited[key] {
            #expect(try write.word(priority, ObjectKey(key)) == row.priority)
            #expect(try write.word(due, ObjectKey(key)) == row.due)
          } else {
            #expect(throws: StorageError.self) { try write.word(priority, ObjectKey(key)) }
          }
        }
      }
      while marks.popLast() != nil { try write.releaseSavepoint() }
      if random.oneIn(5) {
        write.end()
      } else {
        _ = try write.commit(CommitRecord(), .relaxed)
        rows = edited
      }
      if random.oneIn(10) {
        engine.close()
        engine = try place.open()
      }
      let read = try engine.beginRead()
      var found: [Int64: Row] = [:]
      try read.scan(table.id, [priority.property, due.property], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count {
          let due = batch.columns[1].isNull(at: row) ? nil : batch.columns[1].word(at: row)
          found[batch.key(at: row).rawValue] = Row(priority: batch.columns[0].word(at: row), due: due)
        }
        return .proceed
      }
      read.end()
      #expect(found == rows)
    }
  }
}

extension StorageReading {
  /// The sum, where the engine makes it.
  fileprivate func total(of column: ColumnID, _ part: ColumnTotal.Part) throws -> Int128? {
    try powers.aggregates?.total(of: column, part)?.integers
  }
}
