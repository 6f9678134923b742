import StorageInterface
import StoreValues

// Links inside mixed values: they carry their own target, and may be older than its deletion.

extension RecordedTransaction {
  /// The value with null in place of links to missing objects: the delete that would have removed the links is over.
  func living(_ value: Value) throws(StorageError) -> Value {
    switch value {
    case .object, .list, .map: break
    default: return value
    }
    var result = value
    for link in Set(value.links) {
      if transaction.catalog[link.table] != nil, try transaction.contains(link.table, link.key) { continue }
      result = result.nullifying(link)
    }
    return result
  }

  func living(_ edit: ElementEdit) throws(StorageError) -> ElementEdit {
    switch edit {
    case .set(let at, let value): return .set(at: at, try living(value))
    case .insert(let at, let values):
      // Most lists hold no mixed values.
      guard values.contains(where: \.hasParts) else { return edit }
      var living: [Value] = []
      for value in values { living.append(try self.living(value)) }
      return .insert(at: at, living)
    case .remove, .move, .clear: return edit
    }
  }

  /// Nullifies links to missing objects in the mixed values of a row to be inserted.
  func clean(_ row: RowBuffer) throws(StorageError) {
    for slot in mixedSlots(of: row.table) where !row.isNull(slot) {
      guard let value = Value(bytes: row.bytes(slot), type: .mixed), value.hasParts else { continue }
      row.set(slot, try living(value))
    }
  }
}

extension Value {
  /// Whether it is, or may contain, a link of a mixed value.
  fileprivate var hasParts: Bool {
    switch self {
    case .object, .list, .map: true
    default: false
    }
  }
}
