import CVivariumSQLite
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

extension Snapshot {
  final func position(of value: Value, in id: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    try enter()
    defer { leave() }
    let column = try layout.collection(id)
    if column.kind == .list { throw .misuse("\(column.label) is a list.") }
    guard let place = column.place(of: value) else { throw .misuse("The keys of a map are strings.") }
    try requireObject(try layout.table(id.table), owner)
    guard try contains(place, in: column, owner) else { return nil }
    let statement = try takeMembers(.rankOfMember, column) {
      "SELECT count(*) FROM \(column.name) WHERE owner = ? AND \(column.placeName) < ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    _ = statement.bind(2, copying: place)
    return try connection.step(statement, "look in \(column.label)") ? Int(statement.int64(0)) : nil
  }

  final func contains(member: Value, in id: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try enter()
    defer { leave() }
    let column = try layout.set(id)
    try requireObject(try layout.table(id.table), owner)
    return try contains(.data(Data(member.orderKey)), in: column, owner)
  }

  private final func contains(_ place: Value, in column: ColumnLayout, _ owner: ObjectKey) throws(StorageError) -> Bool {
    let statement = try takeMembers(.hasMember, column) {
      "SELECT 1 FROM \(column.name) WHERE owner = ? AND \(column.placeName) = ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    _ = statement.bind(2, copying: place)
    return try connection.step(statement, "look in \(column.label)")
  }

  final func value(forKey key: String, in id: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Value? {
    try enter()
    defer { leave() }
    let column = try layout.map(id)
    try requireObject(try layout.table(id.table), owner)
    return try value(ofKey: key, in: column, owner)
  }

  final func value(ofKey key: String, in column: ColumnLayout, _ owner: ObjectKey) throws(StorageError) -> Value? {
    let statement = try takeMembers(.valueOfKey, column) {
      "SELECT value FROM \(column.name) WHERE owner = ? AND key = ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    _ = statement.bind(2, copying: .string(key))
    guard try connection.step(statement, "look in \(column.label)") else { return nil }
    return try statement.value(0, column)
  }

  final func memberCount(_ column: ColumnLayout, _ owner: ObjectKey) throws(StorageError) -> Int {
    try requireObject(try layout.table(column.id.table), owner)
    let statement = try takeMembers(.countMembers, column) { "SELECT count(*) FROM \(column.name) WHERE owner = ?" }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    return try connection.step(statement, "count \(column.label)") ? Int(statement.int64(0)) : 0
  }

  /// Lends members of a set, or values and keys of a map, within a range.
  final func members(
    _ column: ColumnLayout, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try requireObject(try layout.table(column.id.table), owner)
    let first = max(0, range.lowerBound)
    guard range.upperBound > first else { return }
    let isMap = column.kind == .map
    let statement = try takeMembers(.members, column) {
      "SELECT value\(isMap ? ", key" : "") FROM \(column.name) WHERE owner = ? ORDER BY \(column.placeName) LIMIT -1 OFFSET ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, owner.rawValue)
    statement.bind(2, Int64(first))
    let buffer = BatchBuffer([column.cell] + (isMap ? [CellType(.string)] : []))
    var (place, left) = (first, range.upperBound - first)
    while left > 0 {
      let isMore = try buffer.fill(from: statement, of: connection, hasKeys: false, limit: left) { _ in column.label }
      if buffer.count == 0 { return }
      if buffer.lendElements(from: place, body) == .stop || !isMore { return }
      place += buffer.count
      left -= buffer.count
    }
  }

  final func sources(
    of target: ObjectLink, through id: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try enter()
    defer { leave() }
    let column = try layout.column(id)
    if column.linksInside, let table = column.backlinkIndex {
      try checkLinkCounts(target, table)
      let statement = try takeMembers(.linkSources, column) {
        "WITH RECURSIVE once (owner, left) AS (SELECT owner, count FROM \(table) WHERE type = ? AND target = ? AND count > 0 "
          + "UNION ALL SELECT owner, left - 1 FROM once WHERE left > 1) SELECT owner FROM once ORDER BY owner"
      }
      defer { connection.finish(statement) }
      statement.bind(1, Int64(target.table.rawValue))
      statement.bind(2, target.key.rawValue)
      _ = try KeyBlock.lend(statement, of: connection, body)
      return
    }
    guard column.isRelationship else { throw .misuse("\(column.label) is no relationship.") }
    if catalog[target.table]?.name == column.entry.schema.target { try sources(of: target.key, through: id, body) }
  }

  /// Each link takes at least a byte of the file; a damaged larger count would keep callers counting indefinitely.
  private final func checkLinkCounts(_ target: ObjectLink, _ table: String) throws(StorageError) {
    let statement = try connection.take(text: "SELECT total(count) FROM \(table) WHERE type = ? AND target = ? AND count > 0")
    defer { connection.finish(statement) }
    statement.bind(1, Int64(target.table.rawValue))
    statement.bind(2, target.key.rawValue)
    guard try connection.step(statement, "count links") else { return }
    let total = sqlite3_column_double(statement.pointer, 0)
    if total > Double(Connection.countUnasked), try total > Double(connection.bytesOfPages()) {
      throw statement.named(.impossible("The count of links in \(table)"))
    }
  }

  private final func takeMembers(
    _ purpose: StatementKey.Purpose, _ column: ColumnLayout, _ text: () -> String
  ) throws(StorageError) -> Statement {
    try connection.take(StatementKey(purpose, column.id.table.rawValue, column.id.property.rawValue), text)
  }
}

extension ColumnLayout {
  /// The column that identifies the members of a set or the entries of a map.
  fileprivate var placeName: String { kind == .map ? "key" : "sort" }

  /// The value of that column for a member or key; nil if the value cannot be a key.
  fileprivate func place(of value: Value) -> Value? {
    if kind == .set { return .data(Data(value.orderKey)) }
    if case .string = value { return value }
    return nil
  }
}

extension Statement {
  /// A value of the current row.
  fileprivate func value(_ column: Int32, _ layout: ColumnLayout) throws(StorageError) -> Value {
    let cell = layout.cell
    if cell.isWord {
      switch word(column, cell) {
      case .word(let word): return Value(word: word, type: cell.type) ?? .null
      case .null: return .null
      case .foreign: throw named(.foreignValue(in: layout.label))
      }
    }
    if holdsBytes(column, cell) { return Value(bytes: bytes(column, cell), type: cell.type) ?? .null }
    guard isNull(column) else { throw named(.foreignValue(in: layout.label)) }
    return .null
  }
}
