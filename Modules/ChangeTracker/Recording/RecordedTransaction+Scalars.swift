import StorageInterface
import StoreValues

/// Sets scalars. The engine reports whether anything changed; the old value is read first only if something depends on it:
/// released owned objects, derived properties, recorded values.
extension RecordedTransaction {
  /// Sets a word column; nil is null. Returns whether the value differed: an equal one changes nothing.
  @discardableResult
  public func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    if followsFromOld {
      let old = try transaction.word(column, key)
      if old == word { return false }
      if part.values != nil { try noteValue(column, key) }
      try transaction.set(column, key, word: word)
      if let old, let owned = owning(column) { part.letGo.insert(ObjectPlace(table: owned.target, key: old)) }
      if derives, let type = transaction.catalog[column]?.schema.valueType {
        try noteSet(column, key, old: Value(word: old, as: type), new: Value(word: word, as: type))
      }
    } else {
      guard try transaction.set(column, key, word: word) else { return false }
    }
    return noteChange(column, key)
  }

  /// Whether anything may depend on a scalar's old value.
  private var followsFromOld: Bool { part.values != nil || hasRules || derives }

  private func noteChange(_ column: ColumnID, _ key: ObjectKey) -> Bool {
    if !isAdding { part.notes?.set(column, key) }
    part.changes.modify(column, key)
    return true
  }

  /// Adds to an integer, wrapping at 64 bits as `&+` does. Other replicas also add, so that concurrent increments all count.
  /// Throws `.misuse`, of scope statement, if the property is null or not an integer, or the sum does not fit it.
  @discardableResult
  public func add(_ delta: Int64, to column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Bool {
    let old = try transaction.value(column, key)
    guard case .int(let number) = old, let type = transaction.catalog[column]?.schema.valueType, Value.int(number &+ delta).fits(type)
    else {
      throw StorageError(
        .misuse, .statement, "\(delta) cannot be added to \(old).", remedy: "Add to integers alone, within the bounds of their type.")
    }
    isAdding = true
    defer { isAdding = false }
    guard try set(column, key, word: number &+ delta) else { return false }
    part.notes?.add(delta, to: column, key)
    return true
  }

  /// Sets a bytes column; nil is null. Returns whether the value differed.
  @discardableResult
  public func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    // Derived properties may depend on decimals.
    let type = derives && derivations.bySource[column] != nil ? transaction.catalog[column]?.schema.valueType : nil
    if part.values != nil {
      if try transaction.holds(column, key, bytes: bytes) { return false }
      try noteValue(column, key)
    }
    let old: Value = type == nil ? .null : try transaction.value(column, key)
    guard try transaction.set(column, key, bytes: bytes) else { return false }
    if let type { try noteSet(column, key, old: old, new: bytes.flatMap { Value(bytes: $0, type: type) } ?? .null) }
    part.changes.modify(column, key)
    return true
  }

  /// Sets a scalar column from a `Value`. Returns whether the value differed.
  @discardableResult
  public func set(_ column: ColumnID, _ key: ObjectKey, _ value: Value) throws(StorageError) -> Bool {
    let value = try living(value)
    guard followsFromOld else { return try transaction.set(column, key, value) ? noteChange(column, key) : false }
    let old = try transaction.value(column, key)
    if old == value { return false }
    if part.values != nil { try noteValue(column, key) }
    guard try transaction.set(column, key, value) else { return false }
    if derives { try noteSet(column, key, old: old, new: value) }
    if case .link(let old) = old, let owned = owning(column) {
      part.letGo.insert(ObjectPlace(table: owned.target, key: old.rawValue))
    }
    return noteChange(column, key)
  }

  /// Records a property as modified although its value is unchanged: for data outside the store that depend on the object.
  public func touch(_ column: ColumnID, _ key: ObjectKey) { part.changes.modify(column, key) }
}
