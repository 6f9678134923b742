import CVivariumSQLite
import Dispatch
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// An open SQLite file: a connection for each live read, one for the writer, one that watches for commits.
///
/// Safe from any thread. Reads never wait for the writer. The writer acquires the store's own lock first, which is fair across
/// threads and processes, and then SQLite's, which keeps foreign programs out.
public final class SQLiteEngine: StorageEngine {
  struct Shared {
    var idle: [Connection] = []
    var writer: Connection?
    /// The newest catalog seen, with the version that wrote it.
    var layout: (version: Int64, layout: SchemaLayout)?
    /// The last commit of this process.
    var newest: SnapshotState?
    /// The last issued key of each table, including rolled-back writes.
    var issued: [TableID: Int64] = [:]
    /// The open reads, in no particular order.
    var readConnections: [ReadConnection] = []
    var isClosed = false
    var openCount = 0
    var durability = DurabilityLevel()
    var tails: (version: Version, lists: ListTails) = (Version(0), ListTails())
    /// What is known of lists in the version of the last commit.
    var lists: (version: Version, positions: PositionCache) = (Version(0), PositionCache())
    /// Reads the file as immutable, as long as it matches `stamp`.
    var isImmutable = false
    var stamp: FileStamp?
    /// The connections in use that read it so.
    var immutableCount = 0
  }

  public let kind = "sqlite"
  public var powers: EnginePowers {
    EnginePowers(announcing: self, syncing: self, space: self, structure: self, copying: self, key: file.seal?.key)
  }
  let file: StoreFile
  let options: OpenOptions
  let mark = ForkMark()
  let shared = Mutex(Shared())
  let bell: FileDoorbell
  /// nil when read-only.
  let lock: FileWriterLock?
  /// What is given up after the last connection.
  let files: EngineFiles
  var checkpointer: Checkpointer { files.checkpointer }
  /// The files that commits are written to; nil before the first write.
  let commitFiles = Mutex<CommitFiles?>(nil)
  /// The last state of the file for which no read of this process needs the log.
  let renewed = Mutex<LogState?>(nil)
  /// How many reads were given another connection. For tests.
  let renewCount = Atomic(0)
  /// How many positions of lists were read from the file. For tests.
  let positionsRead = Atomic(0)
  /// The versions held by all processes, with their holders. Opened by the first announcement.
  let holders = Mutex<HolderTable?>(nil)
  let pagesMax: Int
  let cacheBudget: PageCacheBudget
  let forget: @Sendable (SQLiteEngine) -> Void
  /// The most idle connections kept for further reads.
  static let idleMax = 8

  /// Opens a store that `StoreFile.prepare` has checked.
  init(
    _ file: StoreFile, _ options: OpenOptions, pagesMax: Int, cacheBudget: PageCacheBudget = .shared,
    forget: @escaping @Sendable (SQLiteEngine) -> Void
  ) throws(StorageError) {
    self.file = file
    self.options = options
    self.pagesMax = pagesMax
    self.cacheBudget = cacheBudget
    self.forget = forget
    let hadLog = file.hasLog
    let (presence, isImmutable) = try SQLiteEngine.announce(file, options)
    lock = options.isReadOnly ? nil : try FileWriterLock(path: file.coordinationPath, mode: file.sideMode)
    bell = try FileDoorbell(path: file.bellPath, isReadOnly: options.isReadOnly, mode: file.sideMode)
    files = EngineFiles(
      file, Checkpointer(file, lock: lock), presence, hasMadeLog: options.isReadOnly && !isImmutable && !hadLog)
    shared.withLock { shared in
      shared.isImmutable = isImmutable
      shared.stamp = isImmutable ? FileStamp(file.path) : nil
    }
    try verify()
    if options.isReadOnly {
      leaveDataFileIfUnread()
      return
    }
    checkpointer.askForLog { [weak self] in
      guard let self else { return }
      renewReads()
      bell.ring()
    }
  }

  /// As `verify(isImmutable:)`. The last writer may close, and remove its log, while a reader that makes none looks for it: then
  /// the data file has everything, and stays as it is while it is read.
  private func verify() throws(StorageError) {
    let isImmutable = shared.withLock { $0.isImmutable }
    do throws(StorageError) { try verify(isImmutable: isImmutable) } catch {
      guard options.isReadOnly, !isImmutable, !file.readersMakeLog, !file.hasWrittenLog else { throw error }
      let stamp = FileStamp(file.path)
      shared.withLock { shared in (shared.isImmutable, shared.stamp) = (true, stamp) }
      try verify(isImmutable: true)
    }
  }

  /// Reads the tables that every file of ours has. The connection becomes the first reader's.
  private func verify(isImmutable: Bool) throws(StorageError) {
    let note = isImmutable ? nil : file.durableNote
    do throws(StorageError) {
      // What is refused stays as it is.
      let connection = try Connection.ours(
        file, isReadOnly: options.isReadOnly, isImmutable: isImmutable, keepsLog: file.hasWrittenLog)
      connection.stamp = shared.withLock { $0.stamp }
      connection.cacheBudget = cacheBudget
      try connection.run(StatementKey(.begin), "BEGIN")
      let version = try state(of: connection).version
      connection.findLog()
      if let note { try connection.checkLog(of: file, version, note) }
      try connection.checkPages(of: file)
      connection.keepsLog(false)
      if endTransaction(connection) { shared.withLock { $0.idle.append(connection) } }
    } catch {
      // The first bytes identify the file as ours, so anything that SQLite cannot read in it is damage.
      guard error.code == .sqlite || error.code == .foreignFile else { throw error }
      var error = error
      error.code = .corrupt
      error.remedy = "Restore the file from a copy."
      throw error.placed(nil, inFile: file.path)
    }
  }

  // The registry holds the engine weakly and has already lost it; calling it from here could deadlock on its lock.
  deinit { stop() }

  func checkOpen() throws(StorageError) {
    try mark.check()
    if shared.withLock({ $0.isClosed }) { throw .closedEngine }
  }

  public func latestVersion() throws(StorageError) -> Version {
    try mark.check()
    if options.isReadOnly { try followLog() }
    return try files.watch.withLock { watch throws(StorageError) in
      try makeWatch(&watch)
      return try watch?.latest() ?? Version(0)
    }
  }

  /// Opens the watching connection if there is none, unless the engine is closed.
  func makeWatch(_ watch: inout VersionWatch?) throws(StorageError) {
    let (isClosed, isImmutable) = shared.withLock { ($0.isClosed, $0.isImmutable) }
    if isClosed { throw .closedEngine }
    if watch != nil { return }
    let connection = try Connection.ours(file, isReadOnly: options.isReadOnly, isImmutable: isImmutable)
    watch = try VersionWatch(connection, isImmutable: isImmutable)
  }

  public func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    try checkOpen()
    return bell.listen(
      unless: isTold,
      version: { [weak self] in
        // The bell may mean that a log should be restarted.
        self?.renewReads()
        return try? self?.latestVersion()
      }, body)
  }

  public func close() {
    // In a forked child everything here is the parent's, and a thread that does not exist in the child may hold a lock.
    if mark.isStale { return }
    forget(self)
    stop()
  }

  private func stop() {
    if mark.isStale { return }
    let isFirst = shared.withLock { shared in
      defer { shared.isClosed = true }
      return !shared.isClosed
    }
    if isFirst { letGoIfUnused() }
  }
}
