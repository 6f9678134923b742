import StoreValues

/// One open store, in whatever holds the data. All contexts of a process that open the same file share one
/// engine; opening goes through `StorageBackend`.
///
/// **Threads.** Every call is safe from any thread at any time.
public protocol StorageEngine: AnyObject, Sendable {
  /// "lmdb", "sqlite", "memory": the backend's name, for tools and messages.
  var kind: String { get }

  /// The newest committed version, also of other processes. Costs well under a microsecond: asked at every wake-up and at
  /// every turn of a context.
  func latestVersion() throws(StorageError) -> Version

  /// A snapshot of the newest version. Never waits for a writer. `.tooManyReaders` when the engine's limit is
  /// reached, `.forked` in a child of the process that opened.
  func beginRead() throws(StorageError) -> any ReadTransaction

  /// The right to write, from the newest version. One at a time over all threads and processes, first come first
  /// served; `.writeTimeout` past the deadline. A holder that died is skipped. `.readOnly` when opened so.
  /// Blocks the calling thread; asynchronous callers bring their own.
  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction

  /// Calls `body` soon after each commit, by this process or another; several commits may give one call, and
  /// a call may come without one. On a thread of the engine's: `body` must be quick, must not write, and reads
  /// the version itself. Kept until the listener is dropped or stopped; no call begins after `stop` returned.
  func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener

  /// What the engine can do beyond this protocol. O(1).
  var powers: EnginePowers { get }

  /// Sizes and pinned versions, for people.
  func statistics() throws(StorageError) -> StorageStatistics

  /// Refuses new transactions and lets go of the file once the open ones have ended: until then they read on, and
  /// what they lent stays readable. Idempotent. The engine also closes with its last reference.
  func close()
}

/// Hears of commits while it lives.
public protocol CommitListener: AnyObject, Sendable {
  /// Idempotent, from any thread.
  func stop()
}

/// What an engine knows of its space and its readers.
public struct StorageStatistics: Sendable {
  /// Bytes on disk over all the store's files, in allocated blocks; 0 in memory.
  public var fileBytes = 0
  /// Bytes of the pages that the newest version consists of; 0 in memory.
  public var liveBytes = 0
  /// Bytes in the file that the next commits can use again, given back to the system or not.
  public var freeBytes = 0
  /// Bytes that the files take only because somebody reads an old version: pages that no later version has, or a log that
  /// cannot begin anew. 0 where nobody is behind, and in memory.
  public var heldBytes = 0
  /// Versions held by readers, each reader one entry, of every process the engine can see.
  public var pins: [VersionPin] = []
  /// Commit records kept, oldest version first.
  public var historyVersions: ClosedRange<UInt64>?

  public init() {}
}

/// A reader that holds a version.
public struct VersionPin: Sendable, Hashable {
  /// Which version is held.
  public var version: Version
  /// The process that holds it.
  public var processID: Int32
  /// What the holder calls itself; nil when it did not say.
  public var label: String?
  /// Since when, in milliseconds since 1970; nil when the holder did not say.
  public var sinceMilliseconds: Int64?

  public init(version: Version, processID: Int32, label: String? = nil, sinceMilliseconds: Int64? = nil) {
    self.version = version
    self.processID = processID
    self.label = label
    self.sinceMilliseconds = sinceMilliseconds
  }
}
