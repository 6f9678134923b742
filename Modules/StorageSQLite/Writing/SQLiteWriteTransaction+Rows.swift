import CVivariumSQLite
import StorageInterface
import StoreValues

/// An insertion into one table in progress: looked up once, used for row after row.
struct Insertion {
  let table: TableLayout
  let statement: Statement
  var lastKey: Int64
  var objects: Int
}

extension SQLiteWriteTransaction {
  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    try enter()
    defer { leave() }
    windows.reset()
    do throws(StorageError) {
      if insertion?.table.id != row.table { try beginInsertion(row.table) }
      return try insertRow(row)
    } catch {
      // The statement must not stay open while the table may change or roll back.
      settleInsertion()
      throw spoil(error)
    }
  }

  private func beginInsertion(_ id: TableID) throws(StorageError) {
    settleInsertion()
    let table = try layout.table(id)
    let (objects, lastKey) = try counters(table)
    let statement = try connection.take(StatementKey(.insert, table.number)) { table.insertText }
    countedTables.insert(id)
    insertion = Insertion(table: table, statement: statement, lastKey: lastKey, objects: objects)
  }

  func counters(_ table: TableLayout) throws(StorageError) -> (objects: Int, lastKey: Int64) {
    if let key = lastKeys[table.id] { return (try objectCount(table), key) }
    if let settled = connection.settled, settled.state.layout === layout, let known = settled.counters[table.id] {
      return (objectCounts[table.id] ?? known.objects, max(known.lastKey, engine.lastIssuedKey(table.id)))
    }
    let stored = try connection.counters(of: table)
    // Another program may have added rows without running the counting triggers.
    let used = try connection.largestKey(table)
    return (objectCounts[table.id] ?? stored.objects, max(stored.lastKey, used, engine.lastIssuedKey(table.id)))
  }

  /// Writes back the state of an insertion in progress. Call before anything else reads it.
  func settleInsertion() {
    guard let current = insertion else { return }
    insertion = nil
    connection.finish(current.statement)
    lastKeys[current.table.id] = current.lastKey
    objectCounts[current.table.id] = current.objects
  }

  private func insertRow(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    guard let current = insertion else { throw .misuse("No insertion is under way.") }
    let table = current.table
    guard row.count == table.slots.count else { throw .misuse("The row was made for another version of \(table.name).") }
    if row.isOverfull { throw StorageError(.tooLarge, .statement, "The row has more bytes than a row can hold.") }
    let (key, overflow) = current.lastKey.addingReportingOverflow(1)
    if overflow { throw StorageError(.tooLarge, .statement, "\(table.name) has used up its keys.") }
    let statement = current.statement
    statement.bind(1, key)
    var parameter: Int32 = 2
    for (slot, column) in table.scalars {
      try bind(row, slot, column, to: statement, parameter)
      parameter &+= column.cell.isTranslated ? 2 : 1
    }
    let code = sqlite3_step(statement.pointer)
    sqlite3_reset(statement.pointer)
    guard code == SQLITE_DONE else { throw insertFailure(code, row, table, key) }
    insertion?.lastKey = key
    insertion?.objects &+= 1
    for (slot, column) in table.mixed where column.kind == .scalar && !row.isNull(slot) {
      try change(links: MixedCoding.decode(row.bytes(slot))?.links ?? [], of: column, ObjectKey(key), by: 1)
    }
    return ObjectKey(key)
  }

  @inline(__always) private func bind(
    _ row: RowBuffer, _ slot: Int, _ column: ColumnLayout, to statement: Statement, _ parameter: Int32
  ) throws(StorageError) {
    if row.isNull(slot) {
      try column.check(word: nil)
      statement.bindNull(parameter)
      if column.cell.isTranslated { statement.bindNull(parameter &+ 1) }
    } else if column.cell.isWord {
      let word = row.word(slot)
      try column.check(word: word)
      statement.bind(parameter, word: word, column.cell.physical)
    } else {
      let bytes = row.bytes(slot)
      try column.check(bytes: bytes)
      if column.cell.isTranslated { return try bind(translated: bytes, column, to: statement, parameter) }
      let code = statement.bind(parameter, bytes: bytes, isText: column.cell.isText)
      guard code == SQLITE_OK else { throw connection.failure(code, doing: "store \(column.label)") }
    }
  }

  /// Binds a decimal or mixed value and its order key.
  func bind(
    translated bytes: UnsafeRawBufferPointer?, _ column: ColumnLayout, to statement: Statement, _ parameter: Int32
  ) throws(StorageError) {
    let value = bytes.flatMap { Value(bytes: $0, type: column.cell.type) } ?? .null
    var code = statement.bind(parameter, value, translatedFor: column.cell.type)
    if code == SQLITE_OK { code = statement.bind(parameter &+ 1, orderKeyOf: value) }
    guard code == SQLITE_OK else { throw connection.failure(code, doing: "store \(column.label)") }
  }

  private func insertFailure(_ code: Int32, _ row: RowBuffer, _ table: TableLayout, _ key: Int64) -> StorageError {
    let error = connection.failure(code, doing: "add to \(table.name)")
    guard code == CSQLITE_CONSTRAINT_UNIQUE else { return error }
    return conflict(error, in: table, except: key) { column in
      guard let slot = table.slots.firstIndex(where: { $0 === column }), !row.isNull(slot) else { return .null }
      let type = column.cell.type
      return (type.isWord ? Value(word: row.word(slot), type: type) : Value(bytes: row.bytes(slot), type: type)) ?? .null
    }
  }

  func delete(_ id: TableID, _ key: ObjectKey) throws(StorageError) {
    settleInsertion()
    try change { () throws(StorageError) in
      let table = try layout.table(id)
      let count = try objectCount(table)
      let statement = try connection.take(StatementKey(.delete, table.number)) {
        "DELETE FROM \(table.name) WHERE _key = ?"
      }
      defer { connection.finish(statement) }
      for (_, column) in table.mixed where column.kind == .scalar { try forgetLinks(of: column, key) }
      statement.bind(1, key.rawValue)
      _ = try connection.step(statement, "delete from \(table.name)")
      guard sqlite3_changes(connection.database) > 0 else { throw table.objectDeleted(key) }
      objectCounts[id] = max(0, count - 1)
      countedTables.insert(id)
      for list in table.collections {
        _ = positions.take(list.id, key)
        tails[list.id, key] = nil
        try removeAll(of: key, from: list)
      }
    }
  }
}
