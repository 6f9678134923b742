import StoreValues

/// One open store, whatever holds the data. All contexts of a process that open the same file share one engine; it is opened
/// through `StorageBackend`.
///
/// **Threads.** Every call is safe from any thread at any time.
public protocol StorageEngine: AnyObject, Sendable {
  /// "lmdb", "sqlite", "memory": the backend's name, for tools and messages.
  var kind: String { get }

  /// The newest committed version, also of other processes. Well under a microsecond: called at every wake-up and at every turn
  /// of a context.
  func latestVersion() throws(StorageError) -> Version

  /// Begins a snapshot of the newest version. Never waits for a writer. `.tooManyReaders` if the engine's limit is reached,
  /// `.forked` in a child of the process that opened.
  func beginRead() throws(StorageError) -> any ReadTransaction

  /// Acquires the right to write, based on the newest version. One holder at a time across all threads and processes, first
  /// come, first served; `.writeTimeout` past the deadline. A dead holder is skipped. `.readOnly` if opened so. Blocks the
  /// calling thread; asynchronous callers provide a thread of their own.
  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction

  /// Calls `body` soon after each commit, by this process or another; several commits may cause one call, and a call may come
  /// without a commit. On a thread of the engine: `body` must be quick, must not write, and reads the version itself. Kept
  /// until the listener is dropped or stopped; no call begins after `stop` returned.
  ///
  /// - Parameter isTold: whether the listener hears of a commit from whoever makes it. Asked once in each commit through this engine, or
  ///   through another one of this process that shares its files with it, on the thread that commits; if it is true, `body` need not be
  ///   called, and no thread is woken for it. Must be quick, take no lock, and keep nothing that keeps the engine.
  func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener

  /// What the engine can do beyond this protocol. O(1).
  var powers: EnginePowers { get }

  /// Sizes and pinned versions, for display.
  func statistics() throws(StorageError) -> StorageStatistics

  /// Rejects new transactions and releases the file once the open ones have ended: until then they can read, and lent memory
  /// stays readable. Idempotent. The engine also closes with its last reference.
  func close()
}

extension StorageEngine {
  /// Calls `body` soon after each commit, also those of this engine.
  public func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener {
    try addCommitListener(unless: { false }, body)
  }
}

/// A registration for commits, active while it lives.
public protocol CommitListener: AnyObject, Sendable {
  /// Ends the registration. Idempotent, from any thread.
  func stop()
}

/// An engine's space usage and its readers.
public struct StorageStatistics: Sendable {
  /// Disk usage of all the store's files in bytes of allocated blocks; 0 in memory.
  public var fileBytes = 0
  /// The size of the newest version's pages in bytes; 0 in memory.
  public var liveBytes = 0
  /// Bytes in the file that the next commits can reuse, whether or not returned to the system.
  public var freeBytes = 0
  /// Bytes that the files take only because somebody reads an old version: pages that no later version has, or a log that
  /// cannot restart. 0 if nobody reads an old version, and in memory.
  public var heldBytes = 0
  /// The versions held by readers, one entry per reader, of every process that the engine can see.
  public var pins: [VersionPin] = []
  /// The versions whose commit records are kept.
  public var historyVersions: ClosedRange<UInt64>?

  public init() {}
}

/// A reader that holds a version.
public struct VersionPin: Sendable, Hashable {
  /// The held version.
  public var version: Version
  /// The process that holds it; 0 if unknown, because it may not write beside the file.
  public var processID: Int32
  /// The holder's name for itself; nil if it has none.
  public var label: String?
  /// Since when, in milliseconds since 1970; nil if the holder did not say.
  public var sinceMilliseconds: Int64?

  public init(version: Version, processID: Int32, label: String? = nil, sinceMilliseconds: Int64? = nil) {
    self.version = version
    self.processID = processID
    self.label = label
    self.sinceMilliseconds = sinceMilliseconds
  }
}
