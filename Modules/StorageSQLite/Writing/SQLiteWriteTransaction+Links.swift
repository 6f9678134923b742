import CVivariumSQLite
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// Links inside mixed values, counted in a table for each property: (type, target, owner) and their number.
extension SQLiteWriteTransaction {
  /// Adds to the counts of an owner's links.
  func change(
    links: [ObjectLink], of column: ColumnLayout, _ owner: ObjectKey, by difference: Int64
  ) throws(StorageError) {
    guard !links.isEmpty, let table = column.backlinkIndex else { return }
    let add = try take(.putLink, column) {
      "INSERT INTO \(table) (type, target, owner, count) VALUES (?, ?, ?, ?) "
        + "ON CONFLICT (type, target, owner) DO UPDATE SET count = count + excluded.count"
    }
    defer { connection.finish(add) }
    for link in links {
      add.bind(1, Int64(link.table.rawValue))
      add.bind(2, link.key.rawValue)
      add.bind(3, owner.rawValue)
      add.bind(4, difference)
      _ = try connection.step(add, "link from \(column.label)")
      sqlite3_reset(add.pointer)
    }
    guard difference < 0 else { return }
    let remove = try take(.removeLink, column) {
      "DELETE FROM \(table) WHERE type = ? AND target = ? AND owner = ? AND count <= 0"
    }
    defer { connection.finish(remove) }
    for link in Set(links) {
      remove.bind(1, Int64(link.table.rawValue))
      remove.bind(2, link.key.rawValue)
      remove.bind(3, owner.rawValue)
      _ = try connection.step(remove, "unlink from \(column.label)")
      sqlite3_reset(remove.pointer)
    }
  }

  /// Subtracts all links of an owner.
  func forgetLinks(of column: ColumnLayout, _ owner: ObjectKey) throws(StorageError) {
    try change(links: links(of: column, owner), of: column, owner, by: -1)
  }

  /// The stored links in a scalar or in all elements of a collection.
  func links(of column: ColumnLayout, _ owner: ObjectKey) throws(StorageError) -> [ObjectLink] {
    let statement = try take(.links, column) {
      column.kind == .scalar
        ? "SELECT \(column.name) FROM \(layout.tableName(column)) WHERE _key = ?"
        : "SELECT value FROM \(column.name) WHERE owner = ?"
    }
    statement.bind(1, owner.rawValue)
    return try links(statement, column)
  }

  /// The links in a run of a list's elements.
  func links(
    of column: ColumnLayout, _ owner: ObjectKey, positions: ClosedRange<Int64>
  ) throws(StorageError) -> [ObjectLink] {
    let statement = try take(.linksInRange, column) {
      "SELECT value FROM \(column.name) WHERE owner = ? AND position BETWEEN ? AND ?"
    }
    statement.bind(1, owner.rawValue)
    statement.bind(2, positions.lowerBound)
    statement.bind(3, positions.upperBound)
    return try links(statement, column)
  }

  /// The links in a member of a set.
  func links(of column: ColumnLayout, _ owner: ObjectKey, sort: [UInt8]) throws(StorageError) -> [ObjectLink] {
    let statement = try take(.linksInRange, column) { "SELECT value FROM \(column.name) WHERE owner = ? AND sort = ?" }
    statement.bind(1, owner.rawValue)
    _ = statement.bind(2, copying: .data(Data(sort)))
    return try links(statement, column)
  }

  private func links(_ statement: Statement, _ column: ColumnLayout) throws(StorageError) -> [ObjectLink] {
    defer { connection.finish(statement) }
    var result: [ObjectLink] = []
    while try connection.step(statement, "read \(column.label)") {
      if statement.holdsBytes(0, column.cell) {
        result += MixedCoding.decode(statement.bytes(0, column.cell))?.links ?? []
      }
    }
    return result
  }
}
