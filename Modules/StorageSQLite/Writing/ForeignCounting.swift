import CVivariumSQLite
import StorageInterface
import StoreValues

/// Finds the foreign writes to one type that the triggers could not log: rows deleted by `REPLACE`, which runs no triggers for
/// them, and writes that bypassed the triggers altogether.
struct ForeignCounting {
  /// Longer gaps of keys are not listed: they come from a program that assigns distant keys.
  private static let missingMax: Int64 = 1 << 22

  let connection: Connection
  let table: TableLayout

  /// Completes the changes and corrects the table's counters. O(rows), less than a nanosecond each.
  func settle(_ changes: inout ForeignChanges) throws(StorageError) {
    for key in changes.replaced.sorted() {
      if try !contains(key) { changes.add("deleted", key, nil) }
    }
    let counted = try connection.counters(of: table)
    let objects = try Int(number("SELECT count(*) FROM \(table.name)"))
    if counted.objects == objects { return }
    let last = max(counted.lastKey, try connection.largestKey(table))
    try connection.setCounters(ObjectCounters(objects: objects, lastKey: last), of: table)
    // Without a log of conflicting rows, as in files of older builds, nobody knows which rows are gone.
    if changes.replaced.isEmpty { changes.missing = try missing(upTo: last) }
  }

  private func contains(_ key: Int64) throws(StorageError) -> Bool {
    let statement = try connection.take(StatementKey(.contains, table.number)) {
      "SELECT 1 FROM \(table.name) WHERE _key = ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, key)
    return try connection.step(statement, "read \(table.name)")
  }

  private func number(_ text: String) throws(StorageError) -> Int64 {
    let statement = try connection.take(text: text)
    defer { connection.finish(statement) }
    return try connection.step(statement, "count \(table.name)") ? statement.int64(0) : 0
  }

  /// All unused keys up to `last`.
  private func missing(upTo last: Int64) throws(StorageError) -> KeyRuns {
    let statement = try connection.take(text: "SELECT _key FROM \(table.name) WHERE _key > 0 ORDER BY _key")
    defer { connection.finish(statement) }
    var result = KeyRuns()
    var next: Int64 = 1
    func close(before key: Int64) { if next < key, key - next <= ForeignCounting.missingMax { result.append(next...key - 1) } }
    while try connection.step(statement, "read \(table.name)") {
      close(before: statement.int64(0))
      next = statement.int64(0) &+ 1
    }
    if next > 0, last < .max { close(before: last + 1) }
    return result
  }
}
