import StorageInterface
import StoreValues

extension SQLiteWriteTransaction {
  func reserveKeys(in id: TableID, below key: ObjectKey) throws(StorageError) {
    try change { () throws(StorageError) in
      let table = try layout.table(id)
      try checkReservation(of: key)
      settleInsertion()
      let (objects, lastKey) = try counters(table)
      guard key.rawValue > lastKey, key.rawValue - 1 > lastKey else { return }
      countedTables.insert(id)
      objectCounts[id] = objects
      lastKeys[id] = key.rawValue - 1
    }
  }
}
