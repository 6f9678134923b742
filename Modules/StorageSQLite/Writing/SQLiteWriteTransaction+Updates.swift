import CVivariumSQLite
import StorageInterface
import StoreValues

extension SQLiteWriteTransaction {
  func set(_ id: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    if try orForeign({ () throws(StorageError) in try self.word(id, key) == word }) { return false }
    if try keepBack(id, key, word) { return true }
    settleInsertion()
    try change { () throws(StorageError) in
      let column = try layout.wordColumn(id)
      let statement = try update(column)
      defer { connection.finish(statement) }
      if let word { statement.bind(1, word: word, column.cell.physical) } else { statement.bindNull(1) }
      statement.bind(2, key.rawValue)
      if let error = step(column, key, statement, { word.flatMap { Value(word: $0, type: column.cell.type) } ?? .null }) {
        throw error
      }
      // Checked after the row is known to exist, as in the other engines; SQLite has undone nothing yet.
    } check: { () throws(StorageError) in
      try layout.wordColumn(id).check(word: word)
    } lives: { () throws(StorageError) in try requireObject(try layout.table(id.table), key) }
    return true
  }

  func set(_ id: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    if try orForeign({ () throws(StorageError) in try holds(id, key, bytes: bytes) }) { return false }
    settleInsertion()
    try change { () throws(StorageError) in
      let column = try layout.bytesColumn(id)
      if column.cell.isTranslated { return try set(translated: bytes, column, key) }
      let statement = try update(column)
      defer { connection.finish(statement) }
      if let bytes {
        let code = statement.bind(1, bytes: bytes, isText: column.cell.isText)
        guard code == SQLITE_OK else { throw connection.failure(code, doing: "store \(column.label)") }
      } else {
        statement.bindNull(1)
      }
      statement.bind(2, key.rawValue)
      if let error = step(column, key, statement, { bytes.flatMap { Value(bytes: $0, type: column.cell.type) } ?? .null }) {
        throw error
      }
    } check: { () throws(StorageError) in
      try layout.bytesColumn(id).check(bytes: bytes)
    } lives: { () throws(StorageError) in try requireObject(try layout.table(id.table), key) }
    return true
  }

  /// Whether an existing object already has a value. A foreign value of another type counts as different. A damaged page then
  /// makes the change fail.
  private func orForeign(_ isSame: () throws(StorageError) -> Bool) throws(StorageError) -> Bool {
    do throws(StorageError) { return try isSame() } catch {
      if error.code == .corrupt, error.scope == .statement { return false }
      throw error
    }
  }

  private func set(
    translated bytes: UnsafeRawBufferPointer?, _ column: ColumnLayout, _ key: ObjectKey
  ) throws(StorageError) {
    let statement = try connection.take(StatementKey(.update, column.id.table.rawValue, column.id.property.rawValue)) {
      "UPDATE \(layout.tableName(column)) SET \(column.name) = ?, \(column.orderName ?? "") = ? WHERE _key = ?"
    }
    defer { connection.finish(statement) }
    let old = column.linksInside ? try links(of: column, key) : []
    try bind(translated: bytes, column, to: statement, 1)
    statement.bind(3, key.rawValue)
    let new = bytes.flatMap { Value(bytes: $0, type: column.cell.type) } ?? .null
    if let error = step(column, key, statement, { new }) { throw error }
    try change(links: old, of: column, key, by: -1)
    try change(links: new.links, of: column, key, by: 1)
  }

  /// Runs a change after its value was checked. A value that does not fit is only reported for an existing object.
  @inline(__always) private func change(
    _ body: () throws(StorageError) -> Void, check: () throws(StorageError) -> Void, lives: () throws(StorageError) -> Void
  ) throws(StorageError) {
    try change { () throws(StorageError) in
      do throws(StorageError) { try check() } catch {
        if error.code == .typeMismatch { try lives() }
        throw error
      }
      try body()
    }
  }

  func update(_ column: ColumnLayout) throws(StorageError) -> Statement {
    try connection.take(StatementKey(.update, column.id.table.rawValue, column.id.property.rawValue)) {
      "UPDATE \(layout.tableName(column)) SET \(column.name) = ? WHERE _key = ?"
    }
  }

  private func step(
    _ column: ColumnLayout, _ key: ObjectKey, _ statement: Statement, _ value: () -> Value
  ) -> StorageError? {
    let code = sqlite3_step(statement.pointer)
    if code == SQLITE_DONE {
      if sqlite3_changes(connection.database) > 0 { return nil }
      return try? layout.table(column.id.table).objectDeleted(key)
    }
    let error = connection.failure(code, doing: "change \(column.label)")
    sqlite3_reset(statement.pointer)
    guard code == CSQLITE_CONSTRAINT_UNIQUE, let table = try? layout.table(column.id.table) else { return error }
    let new = value()
    return conflict(error, in: table, except: key.rawValue) { other in
      other === column ? new : ((try? self.value(other.id, key)) ?? .null)
    }
  }

  /// The error of a unique violation: which index, and which object has the value.
  func conflict(
    _ error: StorageError, in table: TableLayout, except key: Int64, _ value: (ColumnLayout) -> Value
  ) -> StorageError {
    var result = error
    result.code = .uniqueViolation
    for index in table.indexes where index.entry.isUnique {
      let values = index.columns.map(value)
      if values.contains(where: \.isNull) { continue }
      var holder: Int64?
      try? keys(in: index.entry.id, IndexRange(equal: values), descending: false) { keys in
        holder = keys.first { $0 != key }
        return holder == nil ? .proceed : .stop
      }
      guard let holder else { continue }
      result.index = index.entry.id
      result.conflictingKey = ObjectKey(holder)
      let parts = index.columns.map(\.label).joined(separator: ", ")
      result.message = "Object \(ObjectKey(holder)) has the same \(parts) already."
      return result
    }
    return result
  }
}
