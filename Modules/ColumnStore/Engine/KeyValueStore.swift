import StorageCoordination
import StorageInterface
import StoreValues

/// The small interface under the column store: an ordered map from byte strings to byte strings with
/// snapshots, one writer at a time and atomic batches. A database becomes an engine by an adapter to this.
///
/// **What it holds.** Keys of 1 to 500 bytes in the order of `memcmp`, the shorter first where one begins
/// the other; values of 0 bytes to whatever the store can take. Keys that begin with the byte 0x00 are the
/// adapter's own (for the version, say): the column store never uses them and never sees them.
///
/// **Versions.** The store keeps one number with its data, given by each batch. A store without any data yet
/// is at version 0.
///
/// **Threads.** Every call is safe from any thread at any time.
public protocol KeyValueStore: AnyObject, Sendable {
  /// What does not change while it is open. Asked a few times.
  var traits: KeyValueTraits { get }

  /// What it can do for its files beyond keeping them; nil where there are none. Found here and nowhere else, so a store in front of
  /// another passes it on. Asked at each of those calls.
  var upkeep: (any KeyValueUpkeep)? { get }

  /// The version of the newest applied batch, also of other processes. A few nanoseconds: asked all the time.
  func latestVersion() throws(StorageError) -> Version

  /// The newest version, unchanged until the snapshot ends. Never waits for a writer. `.tooManyReaders`,
  /// `.forked`, `.closed`, `.addressSpace`.
  func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot

  /// The right to write: one holder over all threads and processes, first come first served, `.writeTimeout`
  /// past the deadline, `.readOnly` when opened so. Blocks the thread. A snapshot begun while it is held is of
  /// the version that the next batch is based on.
  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter

  /// As `StorageEngine.addCommitListener`.
  func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener

  /// Sizes and pins. The history is the column store's to add.
  func statistics() throws(StorageError) -> StorageStatistics

  /// Refuses new snapshots and holds with `.closed`, and lets go of the file once the open ones have ended; until
  /// then they go on as before. Idempotent. The store also closes with its last reference; snapshots and holds
  /// keep alive what they need.
  func close()
}

/// What of a key-value store does not change while it is open.
public struct KeyValueTraits: Sendable {
  /// The name of the database, for tools and messages: "lmdb", "memory".
  public var kind: String
  /// Bytes of a page on disk, by which a *new* file's chunks are sized: values are cut so that they fill one
  /// or two pages with the least waste. A power of two. 4,096 where nothing speaks for another.
  public var pageSize: Int
  /// Bytes of a page that a value on pages of its own cannot use.
  public var pageOverhead: Int
  /// Of the process that may use the store, where a fork of it may not; else nil.
  public var forkMark: ForkMark?

  /// Of a store whose pages are those of most disks.
  public init(kind: String, pageSize: Int = 4_096, pageOverhead: Int = 16, forkMark: ForkMark? = nil) {
    self.kind = kind
    self.pageSize = pageSize
    self.pageOverhead = pageOverhead
    self.forkMark = forkMark
  }
}

/// What a key-value store that has files does for them. Every call is safe from any thread at any time.
public protocol KeyValueUpkeep: Sendable {
  /// Looks through the pages of a snapshot of the store, below its keys and values, and reports what is not as it must be.
  func verifyPages(_ snapshot: any KeyValueSnapshot, _ report: (StoreFault) -> Void) throws(StorageError)

  /// As `VersionAnnouncing.announce`.
  func announce(_ version: Version, label: String) -> (any VersionAnnouncement)?

  /// As `SpaceReclaiming.reclaimSpace`.
  func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int

  /// Writes the entries of a snapshot of the store to a new file, as `FileCopying.writeCopy` says.
  func writeCopy(
    of snapshot: any KeyValueSnapshot, to path: String, _ progress: (CopyProgress) -> Step
  ) throws(StorageError)

  /// Returns when every batch applied before, by this process, survives a power cut.
  func syncBatches() throws(StorageError)
}

/// The held right to write. Dropping the last reference ends it.
///
/// **Threads.** One thread at a time, but any: the hold may be taken on one thread, used on another and ended
/// on a third. An adapter whose library binds a write to a thread does everything inside `apply`.
public protocol KeyValueWriter: AnyObject, Sendable {
  /// Makes all of the batch visible and durable at once, as the version `batch.version`, and notifies the
  /// listeners. All or nothing: when it throws, nothing of the batch is visible, now or after a crash. May be
  /// called several times; the hold stays. A store that copies the values lets go of each as it does
  /// (`KeyValueBatch.drain`).
  ///
  /// `.outOfDiskSpace`, `.io`, `.closed`, `.forked`, scope transaction or engine.
  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError)

  /// Lets the next writer go on. Idempotent.
  func end()
}
