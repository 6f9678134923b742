import CVivariumSQLite
import StorageCoordination
import StorageInterface

extension Connection {
  /// A statement ready for binding; `text` is evaluated when the statement is first prepared. Return it with `finish`.
  @inline(__always) func take(_ key: StatementKey, _ text: () -> String) throws(StorageError) -> Statement {
    takeCount &+= 1
    // In bounds: `place` is below the array's count.
    if let statement = recent[key.place], statement.key == key, !statement.isBusy {
      statement.isBusy = true
      return statement
    }
    return try takeAnother(key, text())
  }

  @inline(never) private func takeAnother(_ key: StatementKey, _ text: String) throws(StorageError) -> Statement {
    let place = placeOfStatement(key)
    let isKept = place < statements.count && statements[place].key == key
    var last = isKept ? statements[place].statement : nil
    while let statement = last, statement.isBusy, let next = statement.next { last = next }
    if let last, !last.isBusy {
      last.isBusy = true
      recent[key.place] = last
      return last
    }
    let statement = try prepare(text, key)
    if let last { last.next = statement } else { statements.insert((key, statement), at: place) }
    recent[key.place] = statement
    return statement
  }

  /// The index of the first statement whose key is not below `key`. O(log n).
  private func placeOfStatement(_ key: StatementKey) -> Int {
    var (low, high) = (0, statements.count)
    while low < high {
      let middle = (low + high) / 2
      if statements[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// As `take`, for the texts of queries. If there is no room for another, all are finalized; while one of them is in use,
  /// others are not kept.
  func take(text: String) throws(StorageError) -> Statement {
    // Most of them read many rows.
    widenCache()
    let kept = texts.last { $0.text == text }?.statement
    if let kept, !kept.isBusy {
      kept.isBusy = true
      return kept
    }
    let statement = try prepare(text)
    if texts.count >= Connection.textStatementsMax, !texts.contains(where: { $0.statement.isBusy }) {
      for old in texts { sqlite3_finalize(old.statement.pointer) }
      texts = []
    }
    if kept == nil, texts.count < Connection.textStatementsMax {
      texts.append((text, statement))
    } else {
      statement.isTransient = true
    }
    return statement
  }

  /// Resets a statement, whatever its state.
  @inline(__always) func finish(_ statement: Statement) {
    if mark.isStale { return }
    sqlite3_reset(statement.pointer)
    statement.isBusy = false
    if statement.isTransient { sqlite3_finalize(statement.pointer) }
  }

  private func prepare(_ text: String, _ key: StatementKey? = nil) throws(StorageError) -> Statement {
    try mark.check()
    var pointer: OpaquePointer?
    prepareCount += 1
    let code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer else { throw failure(code, doing: "prepare a statement") }
    let statement = Statement(pointer, key)
    statement.isBusy = true
    return statement
  }

  /// Returns whether there is a row, which is of one version (`confirm`).
  @inline(__always) func step(_ statement: Statement, _ doing: @autoclosure () -> String) throws(StorageError) -> Bool {
    let isRow = try advance(statement, doing())
    try confirm()
    return isRow
  }

  /// As `step`, for many rows: call `confirm` before somebody gets what was read.
  @inline(__always) func advance(_ statement: Statement, _ doing: @autoclosure () -> String) throws(StorageError) -> Bool {
    // Checked between rows too: a closure that received a row may have forked.
    try mark.check()
    let code = sqlite3_step(statement.pointer)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    // Pages of two versions look like damage.
    try confirm()
    throw failure(code, doing: doing())
  }

  /// Runs a statement without parameters and results.
  func run(_ key: StatementKey, _ text: String) throws(StorageError) {
    let statement = try take(key) { text }
    defer { finish(statement) }
    _ = try advance(statement, text)
  }

  /// Runs statements once, without caching them.
  func execute(_ text: String) throws(StorageError) {
    try mark.check()
    let code = sqlite3_exec(database, text, nil, nil, nil)
    if code == SQLITE_OK { return }
    try confirm()
    throw failure(code, doing: "run \(text)")
  }

  /// Whether a transaction is open. False after SQLite rolled one back by itself.
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  func failure(_ code: Int32, _ scope: StorageError.Scope = .statement, doing: String) -> StorageError {
    if code == SealedFile.damage, let damage = seal?.damage {
      return named(
        StorageError(.corrupt, .engine, "Could not \(doing): \(damage).", remedy: "Restore the file from a copy.", underlyingCode: code))
    }
    return named(
      .sqlite(
        code, scope, doing: doing, text: String(cString: sqlite3_errmsg(database)), system: sqlite3_system_errno(database)))
  }

  /// An error of damage with the path of the file.
  func named(_ error: StorageError) -> StorageError { error.placed(nil, inFile: Connection.path(of: database)) }

  /// The path of the file that a connection of SQLite's has open.
  static func path(of database: OpaquePointer) -> String? {
    sqlite3_db_filename(database, "main").map { String(cString: $0) }
  }
}
