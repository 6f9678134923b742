import StoreValues

extension StorageReading {
  /// The first of the objects whose relationship points to an object, the value of an inverse to one; nil if there is none.
  /// O(log n).
  package func firstSource(of key: ObjectKey, through column: ColumnID) throws(StorageError) -> ObjectKey? {
    var first: Int64?
    try sources(of: key, through: column) { block in
      first = block.first
      return .stop
    }
    return first.map { ObjectKey($0) }
  }
}
