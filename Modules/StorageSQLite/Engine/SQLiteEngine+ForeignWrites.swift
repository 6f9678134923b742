import CVivariumSQLite
import StorageInterface
import StoreValues

extension SQLiteEngine {
  /// Turns the writes of other programs, as logged by the triggers, into a commit. Returns true if there were any; the
  /// transaction has ended with that commit.
  func logForeignWrites(_ connection: Connection) throws(StorageError) -> Bool {
    let changes = try connection.readForeignLog()
    guard !changes.isEmpty else { return false }
    let state = try state(of: connection)
    var record = CommitRecord(author: "another program")
    for table in state.layout.tables {
      guard var found = changes[table.id] else { continue }
      do throws(StorageError) {
        try ForeignCounting(connection: connection, table: table).settle(&found)
      } catch where error.code == .sqlite && connection.isInTransaction {
        // The table was removed or changed: only what was logged is known.
      }
      try ForeignMending(connection: connection, table: table).mend(found)
      let change = found.change(table)
      if !change.isEmpty { record.tables.append(change) }
    }
    record.tables.sort { $0.table < $1.table }
    try connection.execute("DELETE FROM _vivarium_foreign")
    let bytes = record.encoded()
    let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try connection.execute(
      "INSERT INTO _vivarium_history (version, record) VALUES (\(state.version.next.rawValue), x'\(text)')")
    try connection.run(StatementKey(.commit), "COMMIT")
    return true
  }
}

/// The changes of other programs to one type, entry by entry.
struct ForeignChanges {
  private(set) var inserted: Set<Int64> = []
  private(set) var deleted: Set<Int64> = []
  private(set) var modified: Set<Int64> = []
  /// Collections of any kind, by owner.
  private(set) var lists: [Int64: Set<PropertyID>] = [:]
  /// Rows that conflicted with an inserted row; deleted if it replaced them.
  private(set) var replaced: Set<Int64> = []
  /// Unused keys for which no deletion was logged.
  var missing = KeyRuns()

  mutating func add(_ kind: String, _ key: Int64, _ property: PropertyID?) {
    switch kind {
    case "inserted":
      // A key that was deleted and exists again is the same object with other values.
      if deleted.remove(key) != nil || (replaced.contains(key) && !inserted.contains(key)) {
        modified.insert(key)
      } else {
        inserted.insert(key)
      }
    case "replaced": replaced.insert(key)
    case "deleted":
      modified.remove(key)
      lists[key] = nil
      if inserted.remove(key) == nil { deleted.insert(key) }
    case "list": if let property { lists[key, default: []].insert(property) }
    default: if !inserted.contains(key) { modified.insert(key) }
    }
  }

  /// The changes in the form of a commit record. Which properties of a row were set is not logged, so it names all. Rows with keys
  /// that no object has are left out: a record with such a key could not be read.
  func change(_ table: TableLayout) -> TableChange {
    let all = PropertySet(table.scalars.map(\.column.id.property))
    var properties: [Int64: PropertySet] = [:]
    for key in modified where key > 0 { properties[key] = all }
    var edits: [ListChange] = []
    for (key, lists) in lists.sorted(by: { $0.key < $1.key }) where key > 0 && !inserted.contains(key) && !deleted.contains(key) {
      for property in lists.sorted() {
        properties[key, default: PropertySet()].insert(property)
        // Which members of a set or map changed is not logged.
        guard table[property]?.kind == .list else { continue }
        edits.append(ListChange(owner: ObjectKey(key), property: property, edits: [.clear]))
      }
    }
    return TableChange(
      table: table.id, inserted: KeyRuns(inserted.filter { $0 > 0 }),
      deleted: KeyRuns(runs: missing.runs + KeyRuns(deleted.filter { $0 > 0 }).runs),
      modified: properties.sorted { $0.key < $1.key }.map { ModifiedObject(key: ObjectKey($0.key), properties: $0.value) },
      lists: edits)
  }
}

extension Connection {
  fileprivate func readForeignLog() throws(StorageError) -> [TableID: ForeignChanges] {
    let statement = try take(StatementKey(.foreignLog)) {
      "SELECT type, key, change, property FROM _vivarium_foreign ORDER BY sequence"
    }
    defer { finish(statement) }
    var result: [TableID: ForeignChanges] = [:]
    while try step(statement, "read the log of other programs' writes") {
      guard let type = UInt16(exactly: statement.int64(0)) else { continue }
      let kind = String(decoding: statement.bytes(2), as: UTF8.self)
      let property = statement.isNull(3) ? nil : UInt16(exactly: statement.int64(3)).map { PropertyID($0) }
      result[TableID(type), default: ForeignChanges()].add(kind, statement.int64(1), property)
    }
    return result
  }
}
