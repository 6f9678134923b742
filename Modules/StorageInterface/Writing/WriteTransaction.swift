import StoreValues

/// The one writer of a store: reads what it has written, and becomes visible as a whole or not at all.
///
/// Not `Sendable`: one owner at a time. It is not bound to a thread, though: an actor's turns may run on
/// different threads, so begin, edits and commit may too. An engine whose library binds a write to a thread
/// (LMDB: a commit on another thread returns success and blocks every later writer for ever) must keep that to
/// itself, for example by doing all its library calls inside `commit`.
///
/// **Failures.** A call that throws with scope `.statement` had no effect and the transaction goes on. After scope
/// `.transaction` only `end()` is allowed; nothing of the transaction is ever visible.
/// **Ending.** By `commit`, by `end()`, or with its last reference; the last two roll back. In each case the
/// writer's lock is free afterwards.
public protocol WriteTransaction: StorageReading {
  /// The transaction as what writes side entries; nil where the engine keeps none. Asked once a transaction, by those alone who keep some.
  var sideWriting: (any SideWriting)? { get }

  /// Adds an object and gives it the next key of its table: higher than every key this engine or a committed
  /// transaction ever gave out there, also in transactions that this engine rolled back since it was opened.
  /// Called once for each new object; a million times in a bulk load.
  ///
  /// Throws `.uniqueViolation` (with `index` and `conflictingKey`), `.typeMismatch` or `.tooLarge`, all of
  /// scope statement: no object was added.
  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey

  /// Uses up the keys of a table below `key`, so that the next object gets `key`; nothing where it would get a higher one
  /// anyway. For whoever puts objects under keys that they have elsewhere. Like keys that were given out, they stay used after a
  /// rollback. Costs the same however many keys are left out.
  ///
  /// Throws `.tooLarge`, of scope statement, above `ObjectLink.keyMax`: mixed values could not link to such an object.
  func reserveKeys(in table: TableID, below key: ObjectKey) throws(StorageError)

  /// Removes an object with its values, index entries, collections and its own links' backlinks. What points to it
  /// is not touched, nor what it embeds: the caller nullifies and cascades first, so that those changes are in the
  /// commit record.
  func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError)

  /// Removes those objects of `keys` that live, each as the other `delete` does, and returns which those were, in no
  /// promised order: what an engine can do for many rows at once is done so. Others have this by the other one.
  func delete(_ table: TableID, all keys: [Int64]) throws(StorageError) -> [Int64]

  /// Sets a word column; nil is null. Throws as `insert` does.
  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError)

  /// Sets a bytes column; nil is null. The bytes are copied. Throws as `insert` does, and `.typeMismatch` for bytes
  /// that are no value of the type (16 for a UUID or decimal, 12 for an ObjectId, `MixedCoding` for a mixed one).
  func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError)

  /// Edits a list; `.clear` also empties a set or a map. `.indexOutOfRange` and `.typeMismatch` leave it as it was.
  func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError)

  /// Adds a member to a set. Returns false when the set has one that is the same by `Value.order(to:)`; that one stays as it
  /// is. `.typeMismatch` leaves the set as it was. O(log n).
  func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool

  /// Takes a member out of a set. Returns false when the set does not have it. O(log n).
  func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool

  /// Sets the value of a key of a map. Returns `.inserted` for a new key, `.modified` for another value than before,
  /// nil when the value was bit for bit the same. `.typeMismatch` leaves the map as it was. O(log n).
  func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind?

  /// Takes a key and its value out of a map. Returns false when the map does not have the key. O(log n).
  func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool

  /// Makes the catalog the given one, which was made from `catalog` by `Catalog.adopting`: creates and drops
  /// tables, columns and indexes as the two differ. Filling a new index may throw `.uniqueViolation`, with
  /// scope transaction. A new column costs nothing per object. Called at most a few times in a file's life.
  func setCatalog(_ catalog: Catalog) throws(StorageError)

  /// Starts a part that can be undone alone. Parts nest; each is ended by exactly one of the next two calls.
  func beginSavepoint() throws(StorageError)
  /// Keeps what was done since the last open `beginSavepoint`.
  func releaseSavepoint() throws(StorageError)
  /// Undoes what was done since the last open `beginSavepoint`, index entries and lists included. The keys that
  /// were given out stay used.
  func rollbackToSavepoint() throws(StorageError)

  /// Makes the data and the record visible together, as version `version + 1`, and ends the transaction. When it
  /// throws, nothing is visible, the transaction is over and the engine usable (unless the scope is engine). One code says
  /// otherwise: `.unsynced`, the commit is visible and the disk has not confirmed it.
  /// With a savepoint still open it throws `.misuse` and the transaction is over.
  /// Listeners are told afterwards.
  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version
}

extension WriteTransaction {
  /// The transaction itself where it conforms, found by a cast.
  public var sideWriting: (any SideWriting)? { self as? any SideWriting }

  /// Throws what `reserveKeys` does for a key that is too large; for engines, which call it first.
  public func checkReservation(of key: ObjectKey) throws(StorageError) {
    guard key.rawValue > ObjectLink.keyMax else { return }
    throw StorageError(
      .tooLarge, .statement, "There is no object key \(key): keys go up to #\(ObjectLink.keyMax).",
      remedy: "Give the objects lower keys.")
  }

  /// One by one.
  public func delete(_ table: TableID, all keys: [Int64]) throws(StorageError) -> [Int64] {
    var gone: [Int64] = []
    for key in keys where try contains(table, ObjectKey(key)) {
      try delete(table, ObjectKey(key))
      gone.append(key)
    }
    return gone
  }

  /// Sets a scalar column from a boxed value.
  public func set(_ column: ColumnID, _ key: ObjectKey, _ value: Value) throws(StorageError) {
    guard let entry = catalog[column], case .scalar(let type) = entry.schema.kind else {
      throw StorageError(.misuse, .statement, "There is no scalar column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    guard value.isNull || value.fits(type) else {
      throw StorageError(.typeMismatch, .statement, "'\(entry.schema.name)' holds \(type.rawValue), not \(value).")
    }
    if type.isWord { return try set(column, key, word: value.word) }
    try value.withBytes(as: type) { bytes throws(StorageError) in try set(column, key, bytes: bytes) }
  }
}
