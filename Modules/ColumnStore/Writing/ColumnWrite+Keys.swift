import StorageInterface
import StoreValues

extension ColumnWrite {
  func reserveKeys(in id: TableID, below key: ObjectKey) throws(StorageError) {
    try checkWritable()
    let table = try table(id)
    try checkReservation(of: key)
    findNextKey(table)
    guard key.rawValue > table.nextKey else { return }
    table.nextKey = key.rawValue
    table.isChanged = true
  }

  /// Raises `nextKey` above the keys that this engine gave to writes that were rolled back since.
  @inline(__always) func findNextKey(_ table: TableState) {
    if table.hasNextKey { return }
    table.nextKey = engine.nextKey(table.id, stored: table.nextKey)
    table.hasNextKey = true
  }
}
