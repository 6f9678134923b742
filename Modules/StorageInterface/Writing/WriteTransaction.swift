import StoreValues

/// The one writer of a store: reads what it has written, and becomes visible as a whole or not at all.
///
/// Not `Sendable`: one owner at a time. It is not bound to a thread, though: an actor's turns may run on
/// different threads, so begin, edits and commit may too. An engine whose library binds a write to a thread
/// (LMDB: a commit on another thread returns success and blocks every later writer for ever) must keep that to
/// itself, for example by doing all its library calls inside `commit`.
///
/// Each part that it is made of says when and how often its calls are made. Those of its own are made once a transaction or less.
///
/// **Failures.** A call that throws with scope `.statement` had no effect and the transaction goes on. After scope
/// `.transaction` only `end()` is allowed; nothing of the transaction is ever visible.
/// **Ending.** By `commit`, by `end()`, or with its last reference; the last two roll back. In each case the
/// writer's lock is free afterwards.
public protocol WriteTransaction: StorageReading, RowWriting, CollectionWriting, SavepointWriting {
  /// What the transaction can do beyond writing. O(1), and asked once a transaction or less.
  var writePowers: WritePowers { get }

  /// Makes the catalog the given one, which was made from `catalog` by `Catalog.adopting`: creates and drops
  /// tables, columns and indexes as the two differ. Filling a new index may throw `.uniqueViolation`, with
  /// scope transaction. A new column costs nothing per object. Called at most a few times in a file's life.
  func setCatalog(_ catalog: Catalog) throws(StorageError)

  /// Makes the data and the record visible together, as version `version + 1`, and ends the transaction. When it
  /// throws, nothing is visible, the transaction is over and the engine usable (unless the scope is engine). One code says
  /// otherwise: `.unsynced`, the commit is visible and the disk has not confirmed it.
  /// With a savepoint still open it throws `.misuse` and the transaction is over.
  /// Listeners are notified afterwards.
  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version
}
