import CVivariumSQLite
import StorageCoordination
import StorageInterface

/// A connection to the file, with its statements.
///
/// **Threads.** One at a time, any: SQLite is opened without its own mutex, which its manual allows for connections that only
/// one thread uses at a time.
///
/// Safe to send: a connection has one owner at a time (the pool, a transaction, the checkpointer), and ownership is transferred
/// under a lock.
final class Connection: @unchecked Sendable {
  let database: OpaquePointer
  let path: String
  /// The key of an encrypted file, which SQLite finds through the address.
  let seal: FileSeal?
  /// The layout of the cached statements.
  private var layout: SchemaLayout?
  /// Sorted by key. Not a dictionary: the first one with a new key type costs more than opening a connection.
  var statements: [(key: StatementKey, statement: Statement)] = []
  /// The most recently used statements, indexed by their key's place: most calls use one of a few. `@exclusivity(unchecked)`:
  /// nothing is called while it is accessed.
  @exclusivity(unchecked) var recent = [Statement?](repeating: nil, count: 16)
  /// The statements of queries with their texts, at most `textStatementsMax`. Not a dictionary, for the same reason.
  var texts: [(text: String, statement: Statement)] = []
  /// Belongs to the process that opened it: a forked child must not even close it, and runs nothing on it.
  let mark = ForkMark()
  private var isShut = false
  /// The coordination file of the store whose log it may move into the data file, as the last connection does when it is closed;
  /// nil if it cannot.
  var coordinationPath: String?
  /// The file's stamp when it was opened as immutable (`confirm`). `@exclusivity(unchecked)`: as `recent`.
  @exclusivity(unchecked) var stamp: FileStamp?
  /// The number of statements taken so far. For tests. `@exclusivity(unchecked)`: as `recent`.
  @exclusivity(unchecked) var takeCount = 0
  /// Whether the function that adds doubles is registered.
  var hasRealSum = false
  /// SQLite's shared WAL index, mapped while the connection is open; nil before `findLog`.
  var logIndex: UnsafeRawPointer?
  /// The state after its last commit; nil if another connection may have committed since.
  var settled: Settled?
  /// What a read connection may take of the process's memory for pages; nil for others.
  var cacheBudget: PageCacheBudget?
  /// What it has taken of it.
  var extraKilobytes = 0
  /// The number of statements prepared in its life. For tests.
  var prepareCount = 0
  /// The most statements of queries that are cached.
  static let textStatementsMax = 128

  /// Opens a store's main file, encrypted or not; `flags` as in `sqlite3_open_v2`.
  convenience init(_ file: StoreFile, flags: Int32) throws(StorageError) {
    try self.init(FileAddress(file), flags: flags)
  }

  /// Opens a file; `flags` as in `sqlite3_open_v2`.
  init(_ address: FileAddress, flags: Int32) throws(StorageError) {
    var opened: OpaquePointer?
    let flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (address.isURI ? SQLITE_OPEN_URI : 0)
    let code = sqlite3_open_v2(address.text, &opened, flags, nil)
    (path, seal) = (address.file.path, address.file.seal)
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

  /// Closes the connection now, even if an ended transaction still refers to it; that one no longer uses it.
  func shut() {
    if mark.isStale || isShut { return }
    isShut = true
    logIndex = nil
    returnBudget()
    finalizeAll()
    if let coordinationPath, StorePresence.isDataFileRead(path: coordinationPath) { keepLog() }
    sqlite3_close_v2(database)
  }

  /// Closing the connection moves nothing into the data file and removes no log.
  func keepLog() { csqlite_configure(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  private func finalizeAll() {
    statements = []
    recent = [Statement?](repeating: nil, count: 16)
    texts = []
    while let statement = sqlite3_next_stmt(database, nil) { sqlite3_finalize(statement) }
  }

  /// Sets the layout of the next statements. Finalizes the statements of another layout.
  func use(_ layout: SchemaLayout) {
    if self.layout === layout { return }
    if self.layout != nil { finalizeAll() }
    self.layout = layout
  }
}
