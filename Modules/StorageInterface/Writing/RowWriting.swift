import StoreValues

/// Writing objects and their scalar properties.
///
/// `insert` is called once per new object and `set` once per changed property, both a million times in a bulk load; `delete`
/// for each deleted object; `reserveKeys` only when objects are copied with their keys. On one thread at a time, and never
/// while a reading call of the transaction lends memory to a closure.
public protocol RowWriting: RowReading {
  /// Adds an object with the next key of its table: higher than every key that this engine or a committed transaction ever
  /// issued there, including transactions that this engine rolled back since it was opened. Called once per new object; a
  /// million times in a bulk load.
  ///
  /// Throws `.uniqueViolation` (with `index` and `conflictingKey`), `.typeMismatch` or `.tooLarge`, all of scope statement: no
  /// object was added.
  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey

  /// Uses up the keys of a table below `key`, so that the next object gets `key`; does nothing if it would get a higher one
  /// anyway. For storing objects under the keys they have elsewhere. Like issued keys, they stay used after a rollback. The
  /// cost does not depend on the number of skipped keys.
  ///
  /// Throws `.tooLarge`, of scope statement, above `ObjectLink.keyMax`: mixed values could not link to such an object.
  func reserveKeys(in table: TableID, below key: ObjectKey) throws(StorageError)

  /// Deletes an object with its values, index entries, collections and its own links' backlinks. Objects that point to it, and
  /// objects it embeds, are not touched: the caller nullifies and cascades first, so that those changes are in the commit
  /// record.
  func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError)

  /// Deletes the existing objects among `keys`, each as the other `delete` does, and returns their keys in unspecified order.
  /// Engines that can delete many rows at once implement it; others inherit it by the other `delete`.
  func delete(_ table: TableID, all keys: [Int64]) throws(StorageError) -> [Int64]

  /// Sets a word column; nil is null. Returns whether the word differed: setting an equal one changes nothing, and callers need
  /// not compare first. Throws as `insert` does.
  @discardableResult
  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool

  /// Sets a bytes column; nil is null. Copies the bytes. Returns whether they differed. Throws as `insert` does, and
  /// `.typeMismatch` for bytes that are not a value of the type (16 for a UUID or decimal, 12 for an ObjectId, `MixedCoding`
  /// for a mixed one).
  @discardableResult
  func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool
}

extension RowWriting {
  /// Throws the error of `reserveKeys` for a key that is too large; engines call it first.
  public func checkReservation(of key: ObjectKey) throws(StorageError) {
    guard key.rawValue > ObjectLink.keyMax else { return }
    throw StorageError(
      .tooLarge, .statement, "There is no object key \(key): keys go up to #\(ObjectLink.keyMax).",
      remedy: "Give the objects lower keys.")
  }

  /// Deletes the objects one by one.
  public func delete(_ table: TableID, all keys: [Int64]) throws(StorageError) -> [Int64] {
    var gone: [Int64] = []
    for key in keys where try contains(table, ObjectKey(key)) {
      try delete(table, ObjectKey(key))
      gone.append(key)
    }
    return gone
  }

  /// Sets a scalar column from a `Value`. Returns whether it differed.
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
