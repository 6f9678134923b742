import CVivariumSQLite
import StorageInterface
import StoreValues

/// Words that are set one by one and written together, by ascending key.
///
/// Objects are set in the order they are met, which is any: each statement finds its way from the root to a page that was
/// last in memory long ago. In the order of keys a page is visited once. Whatever reads more than one row, or changes
/// anything else, has them written first; what reads one row knows them.
extension SQLiteWriteTransaction {
  /// The most that is kept back of one column.
  private static let countMax = 1 << 17

  /// Keeps back a word of an object that lives; false when it has to be written now: the column has an index, whose order or
  /// uniqueness the next call may ask.
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
    // What does not fit is told the long way.
    do throws(StorageError) { try column.column.check(word: word) } catch { return false }
    settleInsertion()
    column.set(key.rawValue, word)
    hasPending = true
    windows.reset()
    if column.count >= SQLiteWriteTransaction.countMax { try settlePending() }
    return true
  }

  /// Puts into the tables what was kept back. Failing spoils the transaction: what was set is lost.
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
      // The failure itself is read before the statement is reset.
      if code != SQLITE_DONE { throw connection.failure(code, doing: "change \(column.label)") }
      sqlite3_reset(statement.pointer)
      guard sqlite3_changes(connection.database) > 0 else { throw table.objectDeleted(ObjectKey(key)) }
    }
  }
}
