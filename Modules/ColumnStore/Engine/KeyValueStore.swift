import StorageCoordination
import StorageInterface
import StoreValues

/// The interface below the column store: an ordered map from byte strings to byte strings with snapshots, one writer at a time
/// and atomic batches. An adapter to it turns a database into an engine.
///
/// **Contents.** Keys of 1 to 500 bytes in `memcmp` order, a prefix before the longer key; values of 0 bytes up to the store's
/// limit. Keys that begin with the byte 0x00 belong to the adapter (for its version, say): the column store never uses or sees
/// them.
///
/// **Versions.** The store keeps one number with its data, which each batch sets. An empty store is at version 0.
///
/// **Threads.** Every call is safe from any thread at any time.
public protocol KeyValueStore: AnyObject, Sendable {
  /// The properties that do not change while it is open. Read a few times.
  var traits: KeyValueTraits { get }

  /// The operations on its files; nil if it has none. The only place to find them, so a store that wraps another must pass it
  /// on. Read at each of those calls.
  var upkeep: (any KeyValueUpkeep)? { get }

  /// The version of the newest applied batch, other processes' included. A few nanoseconds; read all the time.
  func latestVersion() throws(StorageError) -> Version

  /// Begins a snapshot of the newest version. Never waits for a writer. `.tooManyReaders`, `.forked`, `.closed`,
  /// `.addressSpace`.
  func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot

  /// Acquires the right to write: one holder across all threads and processes, first come, first served. Throws `.writeTimeout`
  /// past the deadline, `.readOnly` if opened so. Blocks the thread. A snapshot begun while it is held has the version that the
  /// next batch is based on.
  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter

  /// As `StorageEngine.addCommitListener(unless:_:)`.
  func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener

  /// Sizes and pins. The column store adds the history.
  func statistics() throws(StorageError) -> StorageStatistics

  /// Rejects new snapshots and writers with `.closed`, and releases the file once the open ones have ended; these continue
  /// until then. Idempotent. The store also closes with its last reference; snapshots and writers keep alive what they need.
  func close()
}

extension KeyValueStore {
  /// Calls `body` soon after each commit, also those of this store.
  package func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener {
    try addCommitListener(unless: { false }, body)
  }
}

/// The properties of a key-value store that do not change while it is open.
public struct KeyValueTraits: Sendable {
  /// The name of the database, for tools and messages: "lmdb", "memory".
  public var kind: String
  /// The page size on disk in bytes, by which a *new* file's chunks are sized: values fill one or two pages with the least
  /// waste. A power of two; 4,096 by default.
  public var pageSize: Int
  /// Bytes of a page that a value on pages of its own cannot use.
  public var pageOverhead: Int
  /// The mark of the process that may use the store, if a fork of it may not; else nil.
  public var forkMark: ForkMark?
  /// The path of the file, which errors of damage name; nil for a store without one.
  public var file: String?
  /// The key that the file is encrypted with; nil: it is not encrypted.
  public var key: (any StoreKey)?

  /// Defaults suit a store with the usual page size.
  public init(
    kind: String, pageSize: Int = 4_096, pageOverhead: Int = 16, forkMark: ForkMark? = nil, file: String? = nil,
    key: (any StoreKey)? = nil
  ) {
    self.file = file
    self.key = key
    self.kind = kind
    self.pageSize = pageSize
    self.pageOverhead = pageOverhead
    self.forkMark = forkMark
  }
}

/// Operations of a key-value store on its files. Every call is safe from any thread at any time.
public protocol KeyValueUpkeep: Sendable {
  /// Verifies the pages of a snapshot of the store, below keys and values, and reports faults.
  func verifyPages(_ snapshot: any KeyValueSnapshot, _ report: (StoreFault) -> Void) throws(StorageError)

  /// As `VersionAnnouncing.announce`.
  func announce(_ version: Version, label: String) -> (any VersionAnnouncement)?

  /// As `SpaceReclaiming.reclaimSpace`.
  func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int

  /// Writes the entries of a snapshot of the store to a new file, as `FileCopying.writeCopy` describes. `.unsupported` if the
  /// store cannot encrypt them so.
  func writeCopy(
    of snapshot: any KeyValueSnapshot, to path: String, _ encryption: CopyEncryption, isPrivate: Bool,
    _ progress: (CopyProgress) -> Step
  ) throws(StorageError)

  /// Returns once every batch that this process applied before survives a power cut.
  func syncBatches() throws(StorageError)
}

/// The right to write, while held. Dropping the last reference ends it.
///
/// **Threads.** One thread at a time, but any: it may be acquired on one thread, used on another and ended on a third. An
/// adapter whose library binds a write to a thread does everything inside `apply`.
public protocol KeyValueWriter: AnyObject, Sendable {
  /// Makes the whole batch visible and durable at once, as the version `batch.version`, and notifies the listeners. Atomic: if
  /// it throws, nothing of the batch is visible, now or after a crash. May be called several times; the right to write stays
  /// held. A store that copies the values releases each one then (`KeyValueBatch.drain`).
  ///
  /// `.outOfDiskSpace`, `.io`, `.closed`, `.forked`, scope transaction or engine.
  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError)

  /// Admits the next writer. Idempotent.
  func end()
}
