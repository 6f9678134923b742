import CVivariumSQLite
import Dispatch
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// One open SQLite file: a connection for each live read, one for the writer, one that watches for commits.
///
/// Safe from any thread. Reads never wait for the writer; the writer takes the store's own lock first, which is fair
/// over threads and processes, and SQLite's second, which holds off foreign programs.
public final class SQLiteEngine: StorageEngine {
  struct Shared {
    var idle: [Connection] = []
    var writer: Connection?
    /// The newest catalog seen, with the version that brought it.
    var layout: (version: Int64, layout: SchemaLayout)?
    /// What this process committed last.
    var newest: SnapshotState?
    /// The last key given out in each table, also by writes that were rolled back.
    var issued: [TableID: Int64] = [:]
    /// The open reads, in no order.
    var readConnections: [ReadConnection] = []
    var isClosed = false
    var openCount = 0
    var durability = DurabilityLevel()
    var tails: (version: Version, lists: ListTails) = (Version(0), ListTails())
    /// Reads the file as one that nobody writes, as long as it looks like `stamp`.
    var isImmutable = false
    var stamp: FileStamp?
  }

  public let kind = "sqlite"
  public var powers: EnginePowers {
    EnginePowers(announcing: self, syncing: self, space: self, structure: self, copying: self)
  }
  let file: StoreFile
  let options: OpenOptions
  let mark = ForkMark()
  let shared = Mutex(Shared())
  /// Made when it is first needed: who opens a store to read it needs one connection and not two.
  let watch = Mutex<VersionWatch?>(nil)
  let bell: FileDoorbell
  let checkpointer: Checkpointer
  /// nil when read-only.
  let lock: FileWriterLock?
  /// Released when the file is let go of.
  let presence: Mutex<StorePresence?>
  private let held: Mutex<HeldFiles?>
  /// There was no log before ours, so none is to be left.
  let hasMadeLog: Bool
  /// Open from the first commit on that we sync ourselves.
  let log = Mutex<LogFile?>(nil)
  /// What commits are written to; nil before the first write.
  let commitFiles = Mutex<CommitFiles?>(nil)
  /// The last state of the file at which no read of this process was left that needs the log.
  let renewed = Mutex<LogState?>(nil)
  /// How many reads were given another connection. For tests.
  let renewCount = Atomic(0)
  /// Who holds which version, for all processes. Opened by the first announcement.
  let holders = Mutex<HolderTable?>(nil)
  let pagesMax: Int
  let forget: @Sendable (SQLiteEngine) -> Void
  /// Idle connections kept for the next reads.
  static let idleMax = 8

  /// Opens a store that `StoreFile.prepare` has found in order.
  init(
    _ file: StoreFile, _ options: OpenOptions, pagesMax: Int, forget: @escaping @Sendable (SQLiteEngine) -> Void
  ) throws(StorageError) {
    self.file = file
    self.options = options
    self.pagesMax = pagesMax
    self.forget = forget
    let hadLog = file.hasLog
    let (presence, isImmutable) = try SQLiteEngine.announce(file, options)
    hasMadeLog = options.isReadOnly && !isImmutable && !hadLog
    held = Mutex(HeldFiles(path: file.path))
    self.presence = Mutex(presence)
    lock = options.isReadOnly ? nil : try FileWriterLock(path: file.coordinationPath)
    bell = try FileDoorbell(path: file.bellPath, isReadOnly: options.isReadOnly)
    checkpointer = Checkpointer(file, lock: lock)
    shared.withLock { shared in
      shared.isImmutable = isImmutable
      shared.stamp = isImmutable ? FileStamp(file.path) : nil
    }
    try verify(isImmutable: isImmutable)
    if options.isReadOnly { return }
    checkpointer.askForLog { [weak self] in
      guard let self else { return }
      renewReads()
      bell.ring()
      // The last reference must not go here: closing waits for the checkpointer.
      DispatchQueue.global().async { withExtendedLifetime(self) {} }
    }
  }

  /// Says that the store is open, and whether it is to be read as a file that nobody writes: SQLite would otherwise
  /// make files beside it, which is none of a reader's business where no writer ever was, and often not possible.
  /// Where writers were and SQLite's files can be made, the store is read as any other, and keeps no writer out.
  private static func announce(
    _ file: StoreFile, _ options: OpenOptions
  ) throws(StorageError) -> (StorePresence?, isImmutable: Bool) {
    guard options.isReadOnly else { return (try StorePresence(path: file.coordinationPath, as: .writer), false) }
    let isImmutable = !file.hasLog && !(file.hadWriter && file.mayHaveLog)
    do throws(StorageError) {
      return (
        try StorePresence(path: file.coordinationPath, as: isImmutable ? .unprotectedReader : .reader), isImmutable
      )
    } catch {
      // A bundled file has no coordination file beside it, or one that cannot be locked.
      if error.code != .alreadyOpen { return (nil, isImmutable) }
      // A writer is there: then its log is too, or is about to be.
      return (try StorePresence(path: file.coordinationPath, as: .reader), false)
    }
  }

  /// Reads what every file of ours has. The connection is the first reader's.
  private func verify(isImmutable: Bool) throws(StorageError) {
    do throws(StorageError) {
      let connection = try Connection.ours(file, isReadOnly: options.isReadOnly, isImmutable: isImmutable)
      connection.stamp = shared.withLock { $0.stamp }
      try connection.run(StatementKey(.begin), "BEGIN")
      _ = try state(of: connection)
      connection.findLog()
      if endTransaction(connection) { shared.withLock { $0.idle.append(connection) } }
    } catch {
      // The first bytes said that the file is ours: what SQLite cannot read in it is damage.
      guard error.code == .sqlite || error.code == .foreignFile else { throw error }
      var error = error
      error.code = .corrupt
      error.remedy = "Restore the file from a copy."
      throw error
    }
  }

  // The registry holds the engine weakly and has lost it already; to call it from here could find its lock held.
  deinit { stop() }

  func checkOpen() throws(StorageError) {
    try mark.check()
    if shared.withLock({ $0.isClosed }) { throw .closedEngine }
  }

  public func latestVersion() throws(StorageError) -> Version {
    try mark.check()
    if options.isReadOnly { try followLog() }
    return try watch.withLock { watch throws(StorageError) in
      try makeWatch(&watch)
      return try watch?.latest() ?? Version(0)
    }
  }

  /// Opens the watching connection where there is none yet, unless the engine is closed.
  func makeWatch(_ watch: inout VersionWatch?) throws(StorageError) {
    let (isClosed, isImmutable) = shared.withLock { ($0.isClosed, $0.isImmutable) }
    if isClosed { throw .closedEngine }
    if watch != nil { return }
    let connection = try Connection.ours(file, isReadOnly: options.isReadOnly, isImmutable: isImmutable)
    watch = try VersionWatch(connection, isImmutable: isImmutable)
  }

  public func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener {
    try checkOpen()
    return bell.listen(
      version: { [weak self] in
        // Somebody may have rung because a log is to begin anew.
        self?.renewReads()
        return try? self?.latestVersion()
      }, body)
  }

  public func close() {
    // In a forked child everything here is the parent's, and a lock may be held by a thread that the child has not.
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

  /// After the last connection was closed.
  func letGoOfFile() {
    if hasMadeLog, let connection = try? Connection.ours(file, isReadOnly: false) {
      // A connection that only reads cannot take the log away; this one does unless others are there.
      _ = try? connection.readVersions()
      connection.shut()
    }
    held.withLock { $0 = nil }
    presence.withLock { $0 = nil }
  }
}
