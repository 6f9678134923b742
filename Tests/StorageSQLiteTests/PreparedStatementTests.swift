import QueryModel
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Statements are prepared once a connection, never in loops; and SQLite runs them by the indexes.
@Suite struct PreparedStatementTests {
  @Test func loopsOfCallsPrepareNothing() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let write = try engine.beginWrite(.never)
    var counts: [Int] = []
    for id in 0..<50 {
      let key = try write.insert(table, ["id": .int(Int64(id)), "name": .string("n\(id % 5)")])
      try write.set(table.column(named: "ratio"), key, .double(Double(id)))
      try write.set(table.column(named: "name"), key, .string("m\(id % 5)"))
      try write.edit(table.column(named: "words"), key, .insert(at: 0, [.string("a"), .string("b")]))
      try write.edit(table.column(named: "words"), key, .move(from: 0, to: 1))
      try write.edit(table.column(named: "words"), key, .set(at: 0, .string("c")))
      try write.beginSavepoint()
      _ = try write.key(in: table.index("id"), equal: [.int(Int64(id))])
      _ = try write.count(in: table.index("name"), IndexRange(equal: [.string("m1")]))
      _ = try write.value(table.column(named: "ratio"), key)
      try write.sources(of: key, through: table.column(named: "best")) { _ in .proceed }
      try write.rollbackToSavepoint()
      counts.append(SQLiteEngine.prepareCount(of: write))
    }
    #expect(counts[0] > 0)
    #expect(counts[1] == counts[49])
    _ = try write.commit(CommitRecord(), .relaxed)
  }

  /// A snapshot of 3,000 rows, and the columns with these names.
  private func rows(in place: Place, _ names: [String]) throws -> (any ReadTransaction, [ColumnID]) {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      for id in 0..<3_000 { try write.insert(table, ["id": .int(Int64(id)), "name": .string("n\(id)"), "ratio": .double(0.5)]) }
    }
    return (try engine.beginRead(), names.map { table.column(named: $0) })
  }

  @Test func columnsReadSideBySideAreReadAheadByFewStatements() throws {
    let place = Place()
    let (read, columns) = try rows(in: place, ["id", "name", "ratio"])
    let windows = try #require(read.powers.windows)
    // A value that is held is not asked for again: as live objects do it.
    var ends = [Int64](repeating: 0, count: columns.count)
    var asked = 0
    for key in Int64(1)...3_000 {
      for (i, column) in columns.enumerated() where key > ends[i] {
        let window = try #require(try windows.window(column, containing: ObjectKey(key)))
        ends[i] = window.firstKey + Int64(window.vector.count) - 1
        asked += 1
      }
    }
    // Windows of 1, 4, 16, 64, 256 and then 512 rows; one text for the single rows of each column, one for the runs.
    #expect(asked <= columns.count * 12)
    // With those of the open: the versions, the catalog and the format; and the beginning of the snapshot.
    #expect(SQLiteEngine.prepareCount(of: read) <= columns.count + 8)
  }

  @Test func columnsThatBeginARowApartAreSoonReadTogether() throws {
    let place = Place()
    let (read, columns) = try rows(in: place, ["name", "id", "ratio"])
    let windows = try #require(read.powers.windows)
    var (begins, ends) = ([0, 0, 0] as [Int64], [0, 1, 1] as [Int64])
    for key in Int64(1)...3_000 {
      for (i, column) in columns.enumerated() where key > ends[i] {
        let window = try #require(try windows.window(column, containing: ObjectKey(key)))
        (begins[i], ends[i]) = (window.firstKey, window.firstKey + Int64(window.vector.count) - 1)
        let row = Int(key - window.firstKey)
        switch i {
        case 0: #expect(String(decoding: window.vector.bytes(at: row), as: UTF8.self) == "n\(key - 1)")
        case 1: #expect(window.vector.word(at: row) == key - 1)
        default: #expect(window.vector.word(at: row) == Int64(bitPattern: 0.5.bitPattern))
        }
      }
      if key > 22 { #expect(Set(begins).count == 1) }
    }
  }

  @Test func theKeysOfATableWithoutGapsAreCountedAndNotRead() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<9_000 { try write.insert(table, ["id": .int(Int64(id))]) } }
    func keys(from start: Int64) throws -> (keys: [Int64], largestBatch: Int) {
      var (keys, largest): ([Int64], Int) = ([], 0)
      let read = try engine.beginRead()
      defer { read.end() }
      try read.scan(table.id, [], from: ObjectKey(start), hints: []) { batch in
        for row in 0..<batch.count { keys.append(batch.key(at: row).rawValue) }
        largest = max(largest, batch.count)
        return .proceed
      }
      return (keys, largest)
    }
    for start in [Int64(1), 700, 8_990] {
      let found = try keys(from: start)
      #expect(found.keys == Array(start...9_000))
      // Rows are read 512 at a time; keys that are known to be there are given in longer runs.
      #expect((found.largestBatch == 4_096) == (start < 8_000))
    }
    try engine.write { try $0.delete(table.id, ObjectKey(8_999)) }
    let found = try keys(from: 1)
    #expect(found.keys == Array(1...8_998) + [9_000] && found.largestBatch <= 512)
  }

  @Test func lookingObjectsUpAndReadingThemIsOneStatementEach() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<500 { try write.insert(table, ["id": .int(Int64(id)), "ratio": .double(Double(id))]) } }
    let read = try engine.beginRead()
    let windows = try #require(read.powers.windows)
    var before = 0
    for round in 0..<200 {
      let id = round * 77 % 500
      let key = try #require(try read.key(in: table.index("id"), equalTo: Int64(id)))
      let window = try #require(try windows.window(table.column(named: "ratio"), containing: key))
      #expect(window.vector.value(at: Int(key.rawValue - window.firstKey), as: .double) == .double(Double(id)))
      if round == 2 { before = SQLiteEngine.useCount(of: read) }
    }
    // A step a look-up: the value came with the key.
    #expect(SQLiteEngine.useCount(of: read) - before == 197)
  }

  @Test func transactionsAfterEachOtherShareStatements() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    var counts: [Int] = []
    for id in 0..<10 {
      let write = try engine.beginWrite(.never)
      try write.insert(table, ["id": .int(Int64(id))])
      _ = try write.commit(CommitRecord(), .relaxed)
      let read = try engine.beginRead()
      #expect(try read.count(table.id) == id + 1)
      _ = try read.value(table.column(named: "name"), ObjectKey(1))
      counts.append(SQLiteEngine.prepareCount(of: read) + SQLiteEngine.prepareCount(of: write))
      read.end()
    }
    #expect(counts[1] == counts[9])
  }

  @Test func aSmallCommitAsksTheFileForNothingThatIsKnown() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    var counts: [Int] = []
    func insert(_ id: Int64) throws {
      let write = try engine.beginWrite(.never)
      try write.insert(table, ["id": .int(id)])
      _ = try write.commit(CommitRecord(), .relaxed)
      counts.append(SQLiteEngine.useCount(of: write))
    }
    for id in 0..<4 { try insert(Int64(id)) }
    // The beginning, the row, the counters, the record and the end.
    #expect(counts[3] - counts[2] == 5)
    // What another program writes is found, and then known again.
    try Raw(place.path).execute("INSERT INTO Thing (id) VALUES (100)")
    for id in 4..<7 { try insert(Int64(id)) }
    #expect(counts[4] - counts[3] > 5)
    #expect(counts[6] - counts[5] == 5)
    let read = try engine.beginRead()
    #expect(try read.count(table.id) == 8)
    #expect(try read.key(in: table.index("id"), equalTo: 4) == ObjectKey(6))
  }

  @Test func whatIsRolledBackIsNotKnown() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { try $0.insert(table, ["id": .int(1)]) }
    let write = try engine.beginWrite(.never)
    for id in 2..<5 { try write.insert(table, ["id": .int(Int64(id))]) }
    write.end()
    var key = ObjectKey(0)
    try engine.write { key = try $0.insert(table, ["id": .int(2)]) }
    // Keys that were given out stay used.
    #expect(key == ObjectKey(5))
    let read = try engine.beginRead()
    #expect(try read.count(table.id) == 2)
  }

  @Test func aStoreThatIsReadOpensOneConnection() throws {
    let place = Place()
    _ = try place.open().adopt(.everything)
    let engine = try place.open()
    let read = try engine.beginRead()
    #expect(read.catalog["Thing"] != nil)
    #expect(!engine.isWatching)
    #expect(try engine.latestVersion() == Version(1))
    #expect(engine.isWatching)
  }

  @Test func callsInsideLentRowsHaveStatementsOfTheirOwn() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      for id in 0..<100 { try write.insert(table, ["id": .int(Int64(id)), "name": .string("n\(id)")]) }
    }
    let read = try engine.beginRead()
    let name = table.column(named: "name")
    var outer = 0
    var inner = 0
    try read.scan(table.id, [name.property], from: ObjectKey(0), hints: []) { batch in
      outer += batch.count
      try? read.scan(table.id, [name.property], from: ObjectKey(0), hints: []) { inner += $0.count; return .proceed }
      return .proceed
    }
    #expect(outer == 100)
    #expect(inner % 100 == 0 && inner >= 100)
    try read.bytes(name, ObjectKey(1)) { first in
      try? read.bytes(name, ObjectKey(2)) { second in
        #expect(first.map { Array($0) } == Array("n0".utf8) && second.map { Array($0) } == Array("n1".utf8))
      }
    }
  }

  @Test func manyQueriesInsideOneAreNotAllKept() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<3 { try write.insert(table, ["id": .int(Int64(id))]) } }
    let read = try #require(try engine.beginRead().powers.pushdown)
    // As many texts as there are numbers of constants.
    func query(_ count: Int) -> Query {
      let path = ExpressionNode.path(PropertyPath("id"))
      return Query(
        type: "Thing",
        condition: .or((0..<count).map { .comparison(Comparison(path, .equal, .constant(.int(Int64($0))))) }))
    }
    var counts: [Int] = []
    let outer = try #require(try read.pushdown(query(1)))
    try read.keys(outer) { _ in
      for count in 2..<200 {
        guard let inner = try? read.pushdown(query(count)), let found = try? read.count(inner) else { continue }
        counts.append(found)
      }
      return .proceed
    }
    #expect(counts == (2..<200).map { min($0, 3) })
    #expect((1...128).contains(SQLiteEngine.keptQueryCount(of: read)))
    // Nobody is in the middle of one any more: there is room again.
    let last = try #require(try read.pushdown(query(190)))
    for _ in 0..<2 { #expect(try read.count(last) == 3) }
    let prepared = SQLiteEngine.prepareCount(of: read)
    #expect(try read.count(last) == 3 && SQLiteEngine.prepareCount(of: read) == prepared)
  }

  @Test func runsOfIndexesAreReadInOrderWithoutSorting() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let read = try engine.beginRead()
    let ranges = [
      IndexRange.all, IndexRange(lower: .including(.double(1))), IndexRange(upper: .excluding(.double(1))),
      IndexRange(equal: [.double(.nan)]), IndexRange(equal: [.null]), IndexRange(lower: .excluding(.null)),
      IndexRange(lower: .including(.string("a")), upper: .excluding(.string("b"))), IndexRange(equal: [.string("a")]),
      IndexRange(equal: [.string("a")], lower: .including(.double(2))),
    ]
    for index in table.indexes {
      for range in ranges where range.equal.count < index.properties.count || range.lower == .unbounded {
        for descending in [false, true] {
          for text in try SQLiteEngine.statements(for: range, in: index.id, descending: descending, of: read) {
            let plan = try SQLiteEngine.plan(of: text, in: read)
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(text) \(plan)")
            #expect(text.contains(" WHERE ") == plan.contains { $0.hasPrefix("SEARCH") }, "\(text) \(plan)")
          }
        }
      }
    }
  }
}
