import StoreValues

/// Writing lists, sets and maps.
///
/// Called once per edit of a collection. On one thread at a time, and never while a reading call of the transaction lends
/// memory to a closure.
public protocol CollectionWriting: CollectionReading {
  /// Edits a list; `.clear` also empties a set or a map. `.indexOutOfRange` and `.typeMismatch` leave it unchanged.
  func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError)

  /// Adds a member to a set. Returns false if the set has an equal one by `Value.order(to:)`, which then stays unchanged.
  /// `.typeMismatch` leaves the set unchanged. O(log n).
  func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool

  /// Removes a member from a set. Returns false if the set does not have it. O(log n).
  func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool

  /// Sets the value of a key of a map. Returns `.inserted` for a new key, `.modified` for a different value, nil if the value
  /// was bit-identical. `.typeMismatch` leaves the map unchanged. O(log n).
  func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind?

  /// Removes a key and its value from a map. Returns false if the map does not have the key. O(log n).
  func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool
}
