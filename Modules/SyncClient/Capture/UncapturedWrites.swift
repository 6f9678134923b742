import StorageInterface
import StoreValues

/// What was written past every store, by other programs, behind the version up to which the merge state has everything. Their commits say
/// which rows they touched, and not what they did to them.
struct UncapturedWrites {
  /// Rows that were inserted, by table.
  private(set) var inserted: [TableID: Set<Int64>] = [:]
  /// Rows that were inserted or changed, or of which a collection was.
  private(set) var touched: [TableID: Set<Int64>] = [:]
  /// Whether any row is gone.
  private(set) var hasDeletions = false

  /// nil where nobody wrote.
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

  /// Everything: nobody knows any more what was written.
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
