import CVivariumSQLite
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// Repairs what other programs could not maintain when they wrote one type: order keys of decimals, mixed values and members of
/// sets, links inside mixed values, and the collections of deleted rows.
struct ForeignMending {
  let connection: Connection
  let table: TableLayout

  func mend(_ changes: ForeignChanges) throws(StorageError) {
    let rows = changes.inserted.union(changes.modified).sorted()
    // Otherwise they would be found from the other end, as links of a deleted object.
    for column in table.collections {
      for owner in changes.deleted.sorted() { try run("DELETE FROM \(column.name) WHERE owner = ?", [.int(owner)]) }
    }
    for (_, column) in table.scalars where column.orderName != nil {
      for key in rows { try mendOrder(of: column, key) }
    }
    for column in table.slots where column.kind == .set {
      for owner in changes.lists.keys.sorted() where changes.lists[owner]?.contains(column.id.property) == true {
        try mendSet(column, owner)
      }
    }
    for (_, column) in table.mixed {
      let owners = changes.lists.filter { $0.value.contains(column.id.property) }.map(\.key)
      let touched = column.kind == .scalar ? rows : owners
      for owner in Set(touched).union(changes.deleted).sorted() { try mendLinks(of: column, owner) }
    }
  }

  private func run(_ text: String, _ values: [Value]) throws(StorageError) {
    let statement = try connection.take(text: text)
    defer { connection.finish(statement) }
    try bind(values, statement)
    _ = try connection.step(statement, "read what another program wrote")
  }

  private func bind(_ values: [Value], _ statement: Statement) throws(StorageError) {
    for (at, value) in values.enumerated() { try statement.bind(Int32(at) + 1, ordered: value) }
  }

  /// The values of a column or collection of one object, each with the column before it; null for values of another type.
  private func read(_ text: String, _ values: [Value], _ cell: CellType) throws(StorageError) -> [(front: Value, value: Value)] {
    let statement = try connection.take(text: text)
    defer { connection.finish(statement) }
    try bind(values, statement)
    var result: [(front: Value, value: Value)] = []
    while try connection.step(statement, "read what another program wrote") {
      let front = Value(bytes: statement.bytes(0), type: .data) ?? .null
      if cell.isWord {
        guard case .word(let word) = statement.word(1, cell) else {
          result.append((front, .null))
          continue
        }
        result.append((front, Value(word: word, type: cell.type) ?? .null))
      } else {
        let bytes = statement.holdsBytes(1, cell) ? statement.bytes(1, cell) : nil
        result.append((front, bytes.flatMap { Value(bytes: $0, type: cell.type) } ?? .null))
      }
    }
    return result
  }

  private func mendOrder(of column: ColumnLayout, _ key: Int64) throws(StorageError) {
    guard let order = column.orderName,
      let found = try read("SELECT NULL, \(column.name) FROM \(table.name) WHERE _key = ?", [.int(key)], column.cell).first
    else { return }
    let orderKey: Value = found.value.isNull ? .null : .data(Data(found.value.orderKey))
    // A value that violates a unique index stays without a key: it conflicts with nothing, and the index has no false entry.
    try run("UPDATE OR IGNORE \(table.name) SET \(order) = ? WHERE _key = ?", [orderKey, .int(key)])
  }

  private func mendSet(_ column: ColumnLayout, _ owner: Int64) throws(StorageError) {
    let members = try read("SELECT sort, value FROM \(column.name) WHERE owner = ?", [.int(owner)], column.cell)
    for (sort, member) in members {
      let right = Value.data(Data(member.orderKey))
      if right == sort { continue }
      // As a BLOB: another program may have written text.
      try run(
        "UPDATE OR IGNORE \(column.name) SET sort = ? WHERE owner = ? AND CAST(sort AS BLOB) = ?", [right, .int(owner), sort])
      // The set holds the member twice.
      if sqlite3_changes(connection.database) == 0 {
        try run("DELETE FROM \(column.name) WHERE owner = ? AND CAST(sort AS BLOB) = ?", [.int(owner), sort])
      }
    }
  }

  private func mendLinks(of column: ColumnLayout, _ owner: Int64) throws(StorageError) {
    guard let links = column.backlinkIndex else { return }
    try run("DELETE FROM \(links) WHERE owner = ?", [.int(owner)])
    let text =
      column.kind == .scalar
      ? "SELECT NULL, \(column.name) FROM \(table.name) WHERE _key = ?"
      : "SELECT NULL, value FROM \(column.name) WHERE owner = ?"
    for link in try read(text, [.int(owner)], column.cell).flatMap(\.value.links) {
      try run(
        "INSERT INTO \(links) (type, target, owner, count) VALUES (?, ?, ?, 1) "
          + "ON CONFLICT (type, target, owner) DO UPDATE SET count = count + 1",
        [.int(Int64(link.table.rawValue)), .int(link.key.rawValue), .int(owner)])
    }
  }
}
