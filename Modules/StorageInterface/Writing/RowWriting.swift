import StoreValues

/// Writing objects and their scalar properties.
///
/// `insert` is called once for each new object and `set` once for each property that is given another value, both a million times in a
/// bulk load; `delete` for each object that goes; `reserveKeys` by those alone who copy objects with their keys. On one thread at a
/// time, and never while a reading call of the transaction lends something to a closure.
public protocol RowWriting: RowReading {
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

  /// Sets a word column; nil is null. Returns whether another word was there: setting the same changes nothing, and nobody compares
  /// before. Throws as `insert` does.
  @discardableResult
  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool

  /// Sets a bytes column; nil is null. The bytes are copied. Returns whether other bytes were there. Throws as `insert` does, and
  /// `.typeMismatch` for bytes that are no value of the type (16 for a UUID or decimal, 12 for an ObjectId, `MixedCoding` for a mixed one).
  @discardableResult
  func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool
}

extension RowWriting {
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

  /// Sets a scalar column from a boxed value. Returns whether another one was there.
  @discardableResult
  public func set(_ column: ColumnID, _ key: ObjectKey, _ value: Value) throws(StorageError) -> Bool {
    guard let entry = catalog[column], case .scalar(let type) = entry.schema.kind else {
      throw StorageError(.misuse, .statement, "There is no scalar column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    guard value.isNull || value.fits(type) else {
      throw StorageError(.typeMismatch, .statement, "'\(entry.schema.name)' holds \(type.rawValue), not \(value).")
    }
    if type.isWord { return try set(column, key, word: value.word) }
    return try value.withBytes(as: type) { bytes throws(StorageError) in try set(column, key, bytes: bytes) }
  }
}
