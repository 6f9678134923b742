import StorageInterface
import StoreValues

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
    // One text for each set of requested columns: there are few, and they are cached.
    let names = (["_key"] + columns.map(\.name)).joined(separator: ", ")
    let statement = try connection.take(text: "SELECT \(names) FROM \(table.name) WHERE _key >= ? ORDER BY _key")
    defer { connection.finish(statement) }
    statement.bind(1, start.rawValue)
    let buffer = BatchBuffer(columns.map(\.cell))
    var given = 0
    while true {
      let isMore = try buffer.fill(from: statement, of: connection, hasKeys: true) { $0.map { columns[$0].label } ?? table.name }
      if buffer.count == 0 { return }
      let last = buffer.lastKey
      if buffer.lend(body) == .stop || !isMore { return }
      given += buffer.count
      // A caller that reads only keys, and this many, mostly wants all of them: if there are no gaps, they need not be read.
      if columns.isEmpty, given >= Snapshot.keysRead, given - buffer.count < Snapshot.keysRead,
        let end = try lastKeyWithoutGaps(table)
      {
        return lendKeys(after: last, to: end, body)
      }
    }
  }

  /// The number of keys that a scan reads before it checks for gaps.
  private static var keysRead: Int { 1_024 }

  /// The highest key of a table whose keys have no gaps. Counts the rows, page by page.
  private final func lastKeyWithoutGaps(_ table: TableLayout) throws(StorageError) -> Int64? {
    let statement = try connection.take(StatementKey(.extent, table.number)) {
      "SELECT (SELECT min(_key) FROM \(table.name)), (SELECT max(_key) FROM \(table.name)), (SELECT count(*) FROM \(table.name))"
    }
    defer { connection.finish(statement) }
    guard try connection.step(statement, "count \(table.name)"), !statement.isNull(0) else { return nil }
    let (first, last) = (statement.int64(0), statement.int64(1))
    let (span, overflow) = last.subtractingReportingOverflow(first)
    return !overflow && span >= 0 && span == statement.int64(2) - 1 ? last : nil
  }

  private final func lendKeys(after key: Int64, to end: Int64, _ body: (borrowing ColumnBatch) -> Step) {
    var last = key
    while last < end {
      let count = min(end - last, 4_096)
      let step = body(
        ColumnBatch(firstKey: ObjectKey(last + 1), count: Int(count), columns: UnsafeBufferPointer(start: nil, count: 0)))
      if step == .stop { return }
      last += count
    }
  }
}

extension BatchBuffer {
  /// Appends the next rows of a statement: keys in column 0 if there are keys, then the values. False: there are no more rows.
  ///
  /// The first batch is short, for callers that stop early; later ones grow. `label`: the name of a column for errors; nil: of the table.
  func fill(
    from statement: Statement, of connection: Connection, hasKeys: Bool, limit: Int = .max,
    label: (Int?) -> String
  ) throws(StorageError) -> Bool {
    start()
    let wanted = min(limit, rowsWanted)
    while count < wanted && !isFull {
      guard try connection.advance(statement, "read rows") else {
        try connection.confirm()
        return false
      }
      if let column = append(statement, hasKeys: hasKeys) {
        try connection.confirm()
        throw statement.named(isOutOfOrder ? .outOfOrder(label(nil)) : .foreignValue(in: label(column)))
      }
    }
    try connection.confirm()
    return true
  }
}
