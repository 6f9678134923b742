import StorageInterface
import StoreValues

extension Snapshot {
  final func keys(
    in id: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try enter()
    defer { leave() }
    let index = try layout.index(id)
    if let word = index.word(equalTo: range) { return try keys(in: index, word, descending: descending, body) }
    let run = try IndexRun(index, range)
    for part in descending ? run.parts.reversed() : run.parts {
      let key = StatementKey(
        .keys, run.index.table.rawValue, id.rawValue, shape: run.shape(part, descending: descending))
      let statement = try connection.take(key) { run.text(part, descending: descending, counting: false) }
      defer { connection.finish(statement) }
      try run.bind(part, to: statement)
      if try KeyBlock.lend(statement, of: connection, body) == .stop { return }
    }
  }

  /// A fast path for the most frequent lookup: one column equal to one word.
  private final func keys(
    in index: IndexLayout, _ word: Int64, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    let key = StatementKey(.keysOfWord, index.table.rawValue, index.entry.id.rawValue, shape: descending ? 1 : 0)
    let statement = try connection.take(key) {
      "SELECT _key FROM \(index.tableName) INDEXED BY \(index.name) WHERE \(index.columns[0].name) = ? ORDER BY _key"
        + (descending ? " DESC" : "")
    }
    defer { connection.finish(statement) }
    statement.bind(1, word)
    _ = try KeyBlock.lend(statement, of: connection, body)
  }

  final func key(in id: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    // Index columns are never deferred, so nothing pending matters.
    try enterBeside()
    defer { leave() }
    let index = try layout.index(id)
    guard index.isDirect else { return try key(in: id, equal: [.int(integer)]) }
    let companion = windows.companion(of: index.table)
    let shape = companion.map { UInt32($0.layout.id.property.rawValue) } ?? 0
    let statement = try connection.take(StatementKey(.find, index.table.rawValue, id.rawValue, shape: shape)) {
      "SELECT _key\(companion.map { ", " + $0.layout.name } ?? "") FROM \(index.tableName) "
        + "INDEXED BY \(index.name) WHERE \(index.columns[0].name) = ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, integer)
    guard try connection.step(statement, "read an index") else { return nil }
    let key = statement.int64(0)
    windows.didFind(index.table, key)
    if let companion, !companion.holds(key, windows.epoch), !hasPending || pendingWord(companion.layout.id, key) == nil {
      companion.begin(key, 1, windows.epoch)
      // Nobody has asked for the value yet; an error is thrown when somebody does.
      if (try? companion.append(statement, 1, key: key)) != true { companion.begin(key, 1, windows.epoch) }
    }
    return ObjectKey(key)
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
      try run.bind(part, to: statement)
      if try connection.step(statement, "count an index") { count += Int(statement.int64(0)) }
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
      column.isCollection
        ? "SELECT owner FROM \(column.name) INDEXED BY \(index) WHERE value = ? ORDER BY owner"
        : "SELECT _key FROM \(layout.tableName(column)) INDEXED BY \(index) WHERE \(column.name) = ? ORDER BY _key"
    }
    defer { connection.finish(statement) }
    statement.bind(1, target.rawValue)
    _ = try KeyBlock.lend(statement, of: connection, body)
  }
}

extension IndexLayout {
  /// The word, if the range is one column equal to one word that the column can hold.
  fileprivate func word(equalTo range: IndexRange) -> Int64? {
    guard columns.count == 1, range.equal.count == 1, range.lower == .unbounded, range.upper == .unbounded,
      columns[0].cell.physical == .integer
    else { return nil }
    switch (range.equal[0], columns[0].cell.type) {
    case (.int(let word), .int64), (.int(let word), .int32), (.int(let word), .int16), (.int(let word), .int8): return word
    case (.link(let key), .link): return key.rawValue
    case (.date(let date), .date): return date.word
    default: return nil
    }
  }
}
