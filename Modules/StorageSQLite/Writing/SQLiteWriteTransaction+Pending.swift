import CVivariumSQLite
import StorageInterface
import StoreValues

/// Words that are set one by one and written together, in ascending key order.
///
/// Objects are set in arbitrary order, so each statement would descend from the root to a page that left the cache long ago. In
/// key order each page is visited once. Calls that read more than one row, or change anything else, first write the pending
/// words; calls that read one row consider them.
extension SQLiteWriteTransaction {
  /// The most pending words of one column.
  private static let countMax = 1 << 17

  /// Defers writing a word of an existing object; false if it must be written now, because the column has an index whose order
  /// or uniqueness the next call may need.
  func keepBack(_ id: ColumnID, _ key: ObjectKey, _ word: Int64?) throws(StorageError) -> Bool {
    try refuse()
    let column: PendingWords
    if let last = pending.last, last.column.id == id {
      column = last
    } else if let known = pending.first(where: { $0.column.id == id }) {
      column = known
    } else {
      guard try layout.table(id.table).isUnindexedWord(id.property) else { return false }
      column = PendingWords(try layout.wordColumn(id))
      pending.append(column)
    }
    // The regular write reports a value that does not fit.
    do throws(StorageError) { try column.column.check(word: word) } catch { return false }
    settleInsertion()
    column.set(key.rawValue, word)
    hasPending = true
    windows.reset()
    if column.count >= SQLiteWriteTransaction.countMax { try settlePending() }
    return true
  }

  /// Writes the pending words to the tables. A failure spoils the transaction, because the words are lost.
  func writePending() throws(StorageError) {
    let columns = pending
    pending = []
    hasPending = false
    do throws(StorageError) {
      for column in columns { try write(column) }
    } catch {
      var error = error
      if error.scope == .statement { error.scope = .transaction }
      throw spoil(error)
    }
  }

  private func write(_ pending: PendingWords) throws(StorageError) {
    let column = pending.column
    let table = try layout.table(column.id.table)
    let statement = try update(column)
    defer { connection.finish(statement) }
    try pending.forEach { key, word throws(StorageError) in
      if let word { statement.bind(1, word: word, column.cell.physical) } else { statement.bindNull(1) }
      statement.bind(2, key)
      let code = sqlite3_step(statement.pointer)
      // The failure must be read before the statement is reset.
      if code != SQLITE_DONE { throw connection.failure(code, doing: "change \(column.label)") }
      sqlite3_reset(statement.pointer)
      guard sqlite3_changes(connection.database) > 0 else { throw table.objectDeleted(ObjectKey(key)) }
    }
  }
}
