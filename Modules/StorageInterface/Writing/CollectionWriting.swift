import StoreValues

/// Writing lists, sets and maps.
///
/// Called once for each edit of a collection. On one thread at a time, and never while a reading call of the transaction lends
/// something to a closure.
public protocol CollectionWriting: CollectionReading {
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
}
