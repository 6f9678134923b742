import StoreValues

extension StorageReading {
  /// The first of the objects whose relationship points to one: what an inverse to one object is; nil when none does. O(log n).
  package func firstSource(of key: ObjectKey, through column: ColumnID) throws(StorageError) -> ObjectKey? {
    var first: Int64?
    try sources(of: key, through: column) { block in
      first = block.first
      return .stop
    }
    return first.map { ObjectKey($0) }
  }
}
