import StorageInterface
import StoreValues

extension Snapshot: GatheringReading {
  /// The numbers of keys per statement: the smallest sufficient one is used, padded with the last key.
  private static let runs = [8, 32, 128]

  final func words(
    _ id: ColumnID, of keys: UnsafeBufferPointer<Int64>, into words: UnsafeMutablePointer<Int64>,
    nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError) {
    try enter()
    defer { leave() }
    let column = try layout.wordColumn(id)
    let longest = Snapshot.runs[Snapshot.runs.count - 1]
    for start in stride(from: 0, to: keys.count, by: longest) {
      let run = UnsafeBufferPointer(rebasing: keys[start..<min(start + longest, keys.count)])
      try readRun(column, run, words + start, nulls + start)
    }
  }

  /// Reads up to the longest run of objects by one statement. Rows come in any order.
  private final func readRun(
    _ column: ColumnLayout, _ keys: UnsafeBufferPointer<Int64>, _ words: UnsafeMutablePointer<Int64>,
    _ nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError) {
    guard let last = keys.last, let length = Snapshot.runs.first(where: { $0 >= keys.count }) else { return }
    let (table, part) = (column.id.table.rawValue, column.id.property.rawValue)
    let statement = try connection.take(StatementKey(.gather, table, part, shape: UInt32(length))) {
      let places = Array(repeating: "?", count: length).joined(separator: ",")
      return "SELECT _key, \(column.name) FROM \(layout.tableName(column)) WHERE _key IN (\(places))"
    }
    defer { connection.finish(statement) }
    for i in 0..<length { statement.bind(Int32(truncatingIfNeeded: i + 1), i < keys.count ? keys[i] : last) }
    var isFound = [Bool](repeating: false, count: keys.count)
    var isForeign = false
    var next = 0
    while try connection.advance(statement, "read \(column.label)") {
      let key = statement.int64(0)
      // SQLite looks them up in ascending key order, which mostly is the requested order.
      if next >= keys.count || keys[next] != key {
        guard let place = keys.firstIndex(of: key) else { throw statement.named(.outOfOrder(column.label)) }
        next = place
      }
      let cell = statement.word(1, column.cell)
      repeat {
        isFound[next] = true
        switch cell {
        case .word(let word): (words[next], nulls[next]) = (word, false)
        case .null: nulls[next] = true
        case .foreign: isForeign = true
        }
        next += 1
        // The same object may be requested twice in a row.
      } while next < keys.count && keys[next] == key
    }
    try connection.confirm()
    if isForeign { throw statement.named(.foreignValue(in: column.label)) }
    for i in isFound.indices where !isFound[i] {
      guard let first = keys[0..<i].firstIndex(of: keys[i]), isFound[first] else {
        throw try layout.table(column.id.table).objectDeleted(ObjectKey(keys[i]))
      }
      (words[i], nulls[i]) = (words[first], nulls[first])
    }
  }
}
