import StorageInterface
import StoreValues

extension SQLiteWriteTransaction: SideWriting {
  func setSide(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError) {
    try enterBeside()
    defer { leave() }
    try SideKey.check(key)
    if !catalog.hasSideEntries {
      if value == nil { return }
      try setCatalog(catalog.withSideEntries())
    }
    // Not by `change`: cached data of objects stay valid.
    do throws(StorageError) { try put(key, value) } catch { throw spoil(error) }
  }

  private func put(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError) {
    guard let value else {
      let statement = try connection.take(StatementKey(.removeSide)) { "DELETE FROM _vivarium_side WHERE key = ?" }
      return try connection.with(statement, binding: key) { () throws(StorageError) in
        _ = try connection.step(statement, "take out a side entry")
      }
    }
    let statement = try connection.take(StatementKey(.setSide)) {
      "INSERT INTO _vivarium_side (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    }
    try connection.with(statement, binding: key, value) { () throws(StorageError) in
      _ = try connection.step(statement, "put a side entry")
    }
  }
}
