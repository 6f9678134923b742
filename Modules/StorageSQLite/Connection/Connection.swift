import CVivariumSQLite
import StorageCoordination
import StorageInterface

/// One connection to the file, with its statements.
///
/// **Threads.** One at a time, any: SQLite is opened without its own mutex, which its manual allows for
/// connections that are used by one thread at a time.
///
/// Safe to send: whoever has the connection (the pool, a transaction, the checkpointer) has it alone, and it changes
/// hands under a lock.
final class Connection: @unchecked Sendable {
  let database: OpaquePointer
  /// The key of an encrypted file, which SQLite finds through the address.
  let seal: FileSeal?
  /// The layout that the kept statements were written for.
  private var layout: SchemaLayout?
  /// By their keys, ascending. No dictionary: the first one of a type of keys costs more than opening a connection.
  var statements: [(key: StatementKey, statement: Statement)] = []
  /// Those taken last, by the place of their key: most calls take one of a few. `@exclusivity(unchecked)`: nothing is
  /// called while it is accessed.
  @exclusivity(unchecked) var recent = [Statement?](repeating: nil, count: 16)
  /// Statements of queries with their texts, `textStatementsMax` at most. No dictionary, for the same reason.
  var texts: [(text: String, statement: Statement)] = []
  /// Left to the parent process: a forked child must not even close it, and runs nothing on it.
  let mark = ForkMark()
  private var isShut = false
  /// What the file looked like when it was opened as one that nobody writes.
  var stamp: FileStamp?
  /// How many statements were taken so far. For tests. `@exclusivity(unchecked)`: as `recent`.
  @exclusivity(unchecked) var takeCount = 0
  /// Whether the function that adds doubles is known.
  var hasRealSum = false
  /// SQLite's shared index of the log, mapped while the connection is open; nil before `findLog`.
  var logIndex: UnsafeRawPointer?
  /// What its last commit has left; nil where somebody else may have committed since.
  var settled: Settled?
  /// How many statements were prepared so far, over its life. For tests.
  var prepareCount = 0
  /// How many statements of queries are kept.
  static let textStatementsMax = 128

  /// Opens a store's main file as it is, encrypted or not; `flags` as `sqlite3_open_v2` has them.
  convenience init(_ file: StoreFile, flags: Int32) throws(StorageError) {
    try self.init(FileAddress(file), flags: flags)
  }

  /// Opens a file; `flags` as `sqlite3_open_v2` has them.
  init(_ address: FileAddress, flags: Int32) throws(StorageError) {
    var opened: OpaquePointer?
    let flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (address.isURI ? SQLITE_OPEN_URI : 0)
    let code = sqlite3_open_v2(address.text, &opened, flags, nil)
    seal = address.file.seal
    guard let opened else {
      throw .sqlite(SQLITE_NOMEM, .engine, doing: "open '\(address.file.path)'", text: "out of memory")
    }
    database = opened
    guard code == SQLITE_OK else {
      let error = Connection.openFailure(opened, code, address.file.path)
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

  deinit { shut() }

  /// Closes it now, whoever still refers to it: an ended transaction does, and touches it no more.
  func shut() {
    if mark.isStale || isShut { return }
    isShut = true
    logIndex = nil
    finalizeAll()
    sqlite3_close_v2(database)
  }

  /// Gives the pages back that a large transaction has left: readers have caches of their own.
  func trimCache() {
    var (used, most): (Int32, Int32) = (0, 0)
    guard sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0) == SQLITE_OK,
      used > Connection.idleCacheBytesMax
    else { return }
    sqlite3_db_release_memory(database)
  }

  /// What an idle writer may keep.
  private static let idleCacheBytesMax: Int32 = 16 << 20

  private func finalizeAll() {
    statements = []
    recent = [Statement?](repeating: nil, count: 16)
    texts = []
    while let statement = sqlite3_next_stmt(database, nil) { sqlite3_finalize(statement) }
  }

  /// Says which layout the next statements are for. Statements of another are let go of.
  func use(_ layout: SchemaLayout) {
    if self.layout === layout { return }
    if self.layout != nil { finalizeAll() }
    self.layout = layout
  }
}
