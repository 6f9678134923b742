import StorageInterface
import StoreValues

/// Writes that other programs made without a store, after the last version that the merge state includes. Their commit records name the
/// rows they touched, but not the changes.
struct UncapturedWrites {
  /// The inserted rows, by table.
  private(set) var inserted: [TableID: Set<Int64>] = [:]
  /// The rows that were inserted or changed, also in a collection.
  private(set) var touched: [TableID: Set<Int64>] = [:]
  /// Whether any row was deleted.
  private(set) var hasDeletions = false

  /// Returns nil if nobody wrote.
  init?(after version: Version, _ sides: any SideWriting) throws(StorageError) {
    if sides.version <= version { return nil }
    var changes: [TableChange] = []
    do throws(StorageError) {
      try sides.history(after: version) { record in
        changes += record.tables
        return .proceed
      }
    } catch where error.code == .historyTrimmed {
      try all(sides)
    }
    for change in changes {
      var (new, rows) = (inserted[change.table] ?? [], touched[change.table] ?? [])
      for key in change.inserted { new.insert(key) }
      for key in change.deleted {
        new.remove(key)
        rows.remove(key)
        hasDeletions = true
      }
      for object in change.modified { rows.insert(object.key.rawValue) }
      for list in change.lists { rows.insert(list.owner.rawValue) }
      (inserted[change.table], touched[change.table]) = (new, rows.union(new))
    }
    if touched.isEmpty, !hasDeletions { return nil }
  }

  /// Marks everything: the history is trimmed, so what was written is not known.
  private mutating func all(_ sides: any SideWriting) throws(StorageError) {
    hasDeletions = true
    for table in sides.catalog.tables {
      var keys: Set<Int64> = []
      try sides.scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) { keys.insert(batch.key(at: row).rawValue) }
        return .proceed
      }
      touched[table.id] = keys
    }
  }
}
