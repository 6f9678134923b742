import StoreValues

/// The single writer of a store: reads its own writes, and becomes visible atomically.
///
/// Not `Sendable`: one owner at a time. But it is not bound to a thread: an actor's turns may run on different threads, so
/// begin, edits and commit may too. An engine whose library binds a write to a thread (LMDB: a commit on another thread returns
/// success and blocks every later writer forever) must hide that, for example by doing all its library calls inside `commit`.
///
/// Each of its parts documents when and how often its calls are made. Its own calls are made at most once per transaction.
///
/// **Failures.** A call that throws with scope `.statement` had no effect and the transaction continues. After scope
/// `.transaction` only `end()` is allowed; nothing of the transaction ever becomes visible.
/// **Ending.** By `commit`, by `end()`, or with its last reference; the latter two roll back. In each case the writer's lock is
/// free afterwards.
public protocol WriteTransaction: StorageReading, RowWriting, CollectionWriting, SavepointWriting {
  /// The powers of the transaction beyond writing. O(1), read at most once per transaction.
  var writePowers: WritePowers { get }

  /// Replaces the catalog by one made from `catalog` by `Catalog.adopting`: creates and drops tables, columns and indexes
  /// accordingly. Filling a new index may throw `.uniqueViolation`, with scope transaction. A new column costs nothing per
  /// object. Called at most a few times in a file's life.
  func setCatalog(_ catalog: Catalog) throws(StorageError)

  /// Makes the data and the record visible together, as version `version + 1`, and ends the transaction. If it throws, nothing
  /// is visible, the transaction is over and the engine usable (unless the scope is engine), with one exception: after
  /// `.unsynced` the commit is visible, but the disk has not confirmed it. With a savepoint still open it throws `.misuse` and
  /// the transaction is over. Listeners are notified afterwards.
  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version
}
