import CSQLite
import Storage
import Synchronization
import Values

/// One connection to the file, with its statements.
///
/// **Threads.** One at a time, any: SQLite is opened without its own mutex, which its manual allows for
/// connections that are used by one thread at a time.
///
/// Safe to send: whoever has the connection (the pool, a transaction, the checkpointer) has it alone, and it changes
/// hands under a lock.
final class Connection: @unchecked Sendable {
  let database: OpaquePointer
  /// The layout that the kept statements were written for.
  private var layout: SchemaLayout?
  private var statements: [StatementKey: Statement] = [:]
  private var texts: [String: Statement] = [:]
  /// Left to the parent process: a forked child must not even close it.
  private var isAbandoned = false
  /// How many statements were prepared so far, over its life. For tests.
  private(set) var prepareCount = 0
  private static let textStatementsMax = 128

  /// Opens `path`; `flags` as `sqlite3_open_v2` has them.
  init(path: String, flags: Int32) throws(StorageError) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened else {
      throw .sqlite(SQLITE_NOMEM, .engine, doing: "open '\(path)'", text: "out of memory")
    }
    database = opened
    guard code == SQLITE_OK else {
      let error = Connection.openFailure(opened, code, path)
      sqlite3_close_v2(opened)
      throw error
    }
  }

  private static func openFailure(_ database: OpaquePointer, _ code: Int32, _ path: String) -> StorageError {
    let number = sqlite3_system_errno(database)
    if isOutOfDescriptors(number) {
      return StorageError(
        .tooManyReaders, .statement, "The process has too many files open for another reader of '\(path)'.",
        remedy: "End read transactions that are no longer needed, or raise the limit of open files.",
        underlyingCode: number)
    }
    return .sqlite(code, .engine, doing: "open '\(path)'", text: String(cString: sqlite3_errmsg(database)))
  }

  deinit {
    if isAbandoned { return }
    finalizeAll()
    sqlite3_close_v2(database)
  }

  /// Leaves the connection as it is, for good: in a child of the process that opened it.
  func abandon() { isAbandoned = true }

  private func finalizeAll() {
    statements = [:]
    texts = [:]
    while let statement = sqlite3_next_stmt(database, nil) { sqlite3_finalize(statement) }
  }

  /// Says which layout the next statements are for. Statements of another are let go of.
  func use(_ layout: SchemaLayout) {
    if self.layout === layout { return }
    if self.layout != nil { finalizeAll() }
    self.layout = layout
  }
}

/// What a statement is for. Its text is a function of the key and the layout.
struct StatementKey: Hashable {
  enum Purpose: UInt64 {
    case begin, beginWrite, commit, rollback, savepoint, release, undo
    case version, catalog, objectCount, issued, largestKey, setCounters
    case putRecord, trimHistory, history, historyBounds, foreignLog
    case contains, read, window, insert, delete, update
    case keys, keysOfWord, countKeys, conflict, sources
    case positions, elements, elementsFrom, putElement, setElement, moveElement, removeElements, deleteOwner
  }

  private let word: UInt64

  /// - Parameters:
  ///   - table: of the statement; 0 where there is none.
  ///   - part: the column's or index's number; 0 where there is none.
  ///   - shape: what else the text depends on.
  @inline(__always) init(_ purpose: Purpose, _ table: UInt16 = 0, _ part: UInt16 = 0, shape: UInt32 = 0) {
    word = purpose.rawValue << 56 | UInt64(table) << 40 | UInt64(part) << 24 | UInt64(shape & 0xFF_FFFF)
  }

  static func == (a: StatementKey, b: StatementKey) -> Bool { a.word == b.word }

  func hash(into hasher: inout Hasher) { hasher.combine(word) }
}

extension Connection {
  /// A statement that is ready to be bound; `text` is asked at its first use. Give it back with `finish`.
  @inline(__always) func take(_ key: StatementKey, _ text: () -> String) throws(StorageError) -> Statement {
    if let statement = statements[key], !statement.isBusy {
      statement.isBusy = true
      return statement
    }
    return try takeAnother(key, text())
  }

  @inline(never) private func takeAnother(_ key: StatementKey, _ text: String) throws(StorageError) -> Statement {
    var last = statements[key]
    while let statement = last, statement.isBusy, let next = statement.next { last = next }
    if let last, !last.isBusy {
      last.isBusy = true
      return last
    }
    let statement = try prepare(text)
    if let last { last.next = statement } else { statements[key] = statement }
    return statement
  }

  /// As `take`, for texts that are made up by queries. The least recent ones are let go of in bulk.
  func take(text: String) throws(StorageError) -> Statement {
    if let statement = texts[text], !statement.isBusy {
      statement.isBusy = true
      return statement
    }
    let statement = try prepare(text)
    if texts.count >= Connection.textStatementsMax, !texts.values.contains(where: \.isBusy) {
      for old in texts.values { sqlite3_finalize(old.pointer) }
      texts = [:]
    }
    if texts[text] == nil { texts[text] = statement } else { statement.isTransient = true }
    return statement
  }

  /// Ends the rows of a statement, whatever happened to it.
  @inline(__always) func finish(_ statement: Statement) {
    sqlite3_reset(statement.pointer)
    statement.isBusy = false
    if statement.isTransient { sqlite3_finalize(statement.pointer) }
  }

  private func prepare(_ text: String) throws(StorageError) -> Statement {
    var pointer: OpaquePointer?
    prepareCount += 1
    let code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer else { throw failure(code, doing: "prepare a statement") }
    let statement = Statement(pointer)
    statement.isBusy = true
    return statement
  }

  /// True: there is a row. False: no more.
  @inline(__always) func step(_ statement: Statement, _ doing: @autoclosure () -> String) throws(StorageError) -> Bool {
    let code = sqlite3_step(statement.pointer)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw failure(code, doing: doing())
  }

  /// Runs a statement that takes nothing and gives nothing.
  func run(_ key: StatementKey, _ text: String) throws(StorageError) {
    let statement = try take(key) { text }
    defer { finish(statement) }
    _ = try step(statement, text)
  }

  /// Runs statements once, without keeping them.
  func execute(_ text: String) throws(StorageError) {
    let code = sqlite3_exec(database, text, nil, nil, nil)
    if code != SQLITE_OK { throw failure(code, doing: "run \(text)") }
  }

  /// Whether a transaction is open, also after SQLite rolled one back by itself.
  var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

  func failure(_ code: Int32, _ scope: StorageError.Scope = .statement, doing: String) -> StorageError {
    .sqlite(code, scope, doing: doing, text: String(cString: sqlite3_errmsg(database)))
  }
}
