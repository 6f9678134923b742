import StorageInterface
import StoreValues

extension Snapshot: WindowedReading {
  final func window(_ id: ColumnID, containing key: ObjectKey) throws(StorageError) -> ColumnWindow? {
    try enterBeside()
    defer { leave() }
    if hasPending, pendingWord(id, key.rawValue) != nil { try settlePending() }
    let column = if let known = windows.known(id) { known } else { windows.column(try layout.scalar(id)) }
    let (key, epoch) = (key.rawValue, windows.epoch)
    if let window = column.window(containing: key, epoch) { return window }
    let length = column.wanted(from: key, epoch)
    // A run may have such words in any of its rows.
    if hasPending, length > 1 { try settlePending() }
    // If a value of the run does not fit its column, the error is for those who ask for that value.
    let run = length == 1 ? nil : try readRows(column, key, length)
    let isThere = if let run { run } else { try readRow(column, key) }
    return isThere ? column.window(containing: key, epoch) : nil
  }

  /// Reads one row of one column; false if there is no such object.
  @inline(__always) final func readRow(_ column: WindowColumn, _ key: Int64) throws(StorageError) -> Bool {
    let layout = column.layout
    let statement = try connection.take(StatementKey(.read, layout.id.table.rawValue, layout.id.property.rawValue)) {
      readText(layout)
    }
    defer { connection.finish(statement) }
    statement.bind(1, key)
    guard try connection.step(statement, "read \(layout.label)") else { return false }
    column.begin(key, 1, windows.epoch)
    guard try column.append(statement, 0, key: key) else { throw statement.named(.foreignValue(in: layout.label)) }
    windows.didRead(column, key)
    return true
  }

  /// Reads a run of rows of all columns that are read side by side with this one, in one pass over the table. False if there is no such
  /// object; nil if a value of the run does not fit its column.
  private final func readRows(_ column: WindowColumn, _ key: Int64, _ length: Int64) throws(StorageError) -> Bool? {
    let columns = windows.company(of: column)
    let names = columns.map(\.layout.name).joined(separator: ", ")
    let statement = try connection.take(
      text: "SELECT _key, \(names) FROM \(layout.tableName(column.layout)) WHERE _key >= ? AND _key < ? ORDER BY _key")
    defer { connection.finish(statement) }
    statement.bind(1, key)
    let (end, overflow) = key.addingReportingOverflow(length)
    statement.bind(2, overflow ? .max : end)
    guard try connection.step(statement, "read \(column.layout.label)"), statement.int64(0) == key else { return false }
    for column in columns { column.begin(key, length, windows.epoch) }
    // Some columns have one row more than others then, and none is complete. Each goes on with a single row.
    func giveUp() { for column in columns { column.begin(key, 1, .max) } }
    do throws(StorageError) {
      repeat {
        let found = statement.int64(0)
        for i in columns.indices {
          if try columns[i].append(statement, Int32(truncatingIfNeeded: i + 1), key: found) { continue }
          giveUp()
          return nil
        }
        if columns.contains(where: \.isFull) { break }
      } while try connection.advance(statement, "read \(column.layout.label)")
      try connection.confirm()
    } catch {
      giveUp()
      throw error
    }
    return true
  }

  /// The SQL text that reads one column of one object.
  final func readText(_ column: ColumnLayout) -> String {
    "SELECT \(column.name) FROM \(layout.tableName(column)) WHERE _key = ?"
  }
}
