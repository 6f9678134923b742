import CVivariumSQLite
import StorageInterface
import StoreValues

/// Deletes many objects of a type in few statements: runs of keys by their bounds, the others in blocks.
extension SQLiteWriteTransaction {
  /// The number of keys that one statement names.
  private static let blockCount = 128
  /// The least number of consecutive keys that get a statement of their own.
  private static let runCount = 32

  func delete(_ id: TableID, all keys: [Int64]) throws(StorageError) -> [Int64] {
    settleInsertion()
    let table = try layout.table(id)
    // Rows of other tables must be deleted with each object.
    guard table.collections.isEmpty, table.mixed.isEmpty else {
      var gone: [Int64] = []
      for key in keys where try contains(id, ObjectKey(key)) {
        try delete(id, ObjectKey(key))
        gone.append(key)
      }
      return gone
    }
    return try change { () throws(StorageError) -> [Int64] in
      let count = try objectCount(table)
      let removed = RemovedRows(connection)
      do throws(StorageError) { try remove(keys.filter { $0 > 0 }.sorted(), from: table) } catch {
        var error = error
        if !removed.keys.isEmpty, error.scope == .statement { error.scope = .transaction }
        throw error
      }
      let gone = removed.stop()
      objectCounts[id] = max(0, count - gone.count)
      if !gone.isEmpty { countedTables.insert(id) }
      return gone
    }
  }

  /// - Parameter keys: ascending.
  private func remove(_ keys: [Int64], from table: TableLayout) throws(StorageError) {
    var block: [Int64] = []
    var first = 0
    while first < keys.count {
      var end = first + 1
      while end < keys.count, keys[end] &- keys[end - 1] <= 1 { end += 1 }
      if end - first >= SQLiteWriteTransaction.runCount {
        try remove(keys[first]...keys[end - 1], from: table)
      } else {
        block += keys[first..<end]
      }
      first = end
      while block.count >= SQLiteWriteTransaction.blockCount || (first == keys.count && !block.isEmpty) {
        try remove(block: block.prefix(SQLiteWriteTransaction.blockCount), from: table)
        block.removeFirst(min(block.count, SQLiteWriteTransaction.blockCount))
      }
    }
  }

  private func remove(_ run: ClosedRange<Int64>, from table: TableLayout) throws(StorageError) {
    let statement = try connection.take(StatementKey(.deleteRun, table.number)) {
      "DELETE FROM \(table.name) WHERE _key BETWEEN ? AND ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, run.lowerBound)
    statement.bind(2, run.upperBound)
    _ = try connection.step(statement, "delete from \(table.name)")
  }

  private func remove(block: ArraySlice<Int64>, from table: TableLayout) throws(StorageError) {
    let statement = try connection.take(StatementKey(.deleteBlock, table.number)) {
      let places = [String](repeating: "?", count: SQLiteWriteTransaction.blockCount).joined(separator: ", ")
      return "DELETE FROM \(table.name) WHERE _key IN (\(places))"
    }
    defer { connection.finish(statement) }
    var parameter: Int32 = 1
    for key in block {
      statement.bind(parameter, key)
      parameter &+= 1
    }
    // NULL matches no key.
    while parameter <= Int32(SQLiteWriteTransaction.blockCount) {
      statement.bindNull(parameter)
      parameter &+= 1
    }
    _ = try connection.step(statement, "delete from \(table.name)")
  }
}

/// The keys of the rows that a connection deletes, as SQLite reports them, until `stop` or the last reference goes.
private final class RemovedRows {
  private let connection: Connection
  private(set) var keys: [Int64] = []

  init(_ connection: Connection) {
    self.connection = connection
    // Safe: the hook is removed before this object is freed, and runs on the thread that steps the statement.
    sqlite3_update_hook(
      connection.database,
      { context, _, _, _, key in
        guard let context else { return }
        Unmanaged<RemovedRows>.fromOpaque(context).takeUnretainedValue().keys.append(key)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { sqlite3_update_hook(connection.database, nil, nil) }

  /// Ends the collection and returns all keys.
  func stop() -> [Int64] {
    sqlite3_update_hook(connection.database, nil, nil)
    return keys
  }
}
