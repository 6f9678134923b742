import Storage
import Values

extension Snapshot {
  final func scan(
    _ id: TableID, _ properties: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try enter()
    defer { leave() }
    let table = try layout.table(id)
    var columns: [ColumnLayout] = []
    for property in properties { columns.append(try layout.scalar(ColumnID(id, property))) }
    // One text for each set of columns that is asked for: there are few, and they are kept.
    let names = (["_key"] + columns.map(\.name)).joined(separator: ", ")
    let statement = try connection.take(text: "SELECT \(names) FROM \(table.name) WHERE _key >= ? ORDER BY _key")
    defer { connection.finish(statement) }
    statement.bind(1, start.rawValue)
    let buffer = BatchBuffer(columns.map(\.cell))
    while true {
      let isMore = try buffer.fill(from: statement, of: connection, hasKeys: true) { columns[$0].label }
      if buffer.count == 0 { return }
      if buffer.lend(body) == .stop || !isMore { return }
    }
  }
}

extension BatchBuffer {
  /// Takes the next rows of a statement: keys in column 0 where there are keys, then the values. False: there are
  /// no more rows.
  ///
  /// The first batch is short, for callers that stop soon; the next ones are longer and longer.
  func fill(
    from statement: Statement, of connection: Connection, hasKeys: Bool, limit: Int = .max,
    label: (Int) -> String
  ) throws(StorageError) -> Bool {
    start()
    let wanted = min(limit, rowsWanted)
    while count < wanted && !isFull {
      guard try connection.step(statement, "read rows") else { return false }
      if let column = append(statement, hasKeys: hasKeys) { throw .foreignValue(in: label(column)) }
    }
    return true
  }
}
