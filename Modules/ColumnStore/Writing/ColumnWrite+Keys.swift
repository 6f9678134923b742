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

  /// Makes `nextKey` count what this engine gave out to writes since rolled back.
  @inline(__always) func findNextKey(_ table: TableState) {
    if table.hasNextKey { return }
    table.nextKey = engine.nextKey(table.id, stored: table.nextKey)
    table.hasNextKey = true
  }
}
