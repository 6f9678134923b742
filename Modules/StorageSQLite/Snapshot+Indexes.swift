import Storage
import Values

extension Snapshot {
  final func keys(
    in id: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try enter()
    defer { leave() }
    let run = try IndexRun(try layout.index(id), range)
    for part in descending ? run.parts.reversed() : run.parts {
      let key = StatementKey(
        .keys, run.index.table.rawValue, id.rawValue, shape: run.shape(part, descending: descending))
      let statement = try connection.take(key) { run.text(part, descending: descending, counting: false) }
      defer { connection.finish(statement) }
      let step = try run.bind(part, to: statement) { () throws(StorageError) -> Step in
        try KeyBlock.lend(statement, of: connection, body)
      }
      if step == .stop { return }
    }
  }

  final func count(in id: IndexID, _ range: IndexRange) throws(StorageError) -> Int {
    try enter()
    defer { leave() }
    let run = try IndexRun(try layout.index(id), range)
    var count = 0
    for part in run.parts {
      let key = StatementKey(.countKeys, run.index.table.rawValue, id.rawValue, shape: run.shape(part, descending: false))
      let statement = try connection.take(key) { run.text(part, descending: false, counting: true) }
      defer { connection.finish(statement) }
      count += try run.bind(part, to: statement) { () throws(StorageError) -> Int in
        try connection.step(statement, "count an index") ? Int(statement.int64(0)) : 0
      }
    }
    return count
  }

  final func sources(
    of target: ObjectKey, through id: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try enter()
    defer { leave() }
    let column = try layout.column(id)
    guard column.isRelationship, let index = column.backlinkIndex else {
      throw .misuse("\(column.label) is no relationship.")
    }
    let statement = try connection.take(StatementKey(.sources, id.table.rawValue, id.property.rawValue)) {
      column.kind == .list
        ? "SELECT owner FROM \(column.name) INDEXED BY \(index) WHERE value = ? ORDER BY owner"
        : "SELECT _key FROM \(layout.tableName(column)) INDEXED BY \(index) WHERE \(column.name) = ? ORDER BY _key"
    }
    defer { connection.finish(statement) }
    statement.bind(1, target.rawValue)
    _ = try KeyBlock.lend(statement, of: connection, body)
  }
}
