import CVivariumSQLite
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

extension SQLiteWriteTransaction {
  func insert(member: Value, into id: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try change(id, owner) { column throws(StorageError) -> Bool in
      let statement = try take(.putElement, column) {
        "INSERT INTO \(column.name) (owner, sort, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
      }
      defer { connection.finish(statement) }
      statement.bind(1, owner.rawValue)
      try bindSort(2, member, column, statement)
      try bind(3, member, column, statement) { () throws(StorageError) in
        _ = try connection.step(statement, "add to \(column.label)")
      }
      guard sqlite3_changes(connection.database) > 0 else { return false }
      if column.linksInside { try change(links: member.links, of: column, owner, by: 1) }
      return true
    } column: { () throws(StorageError) in try layout.set(id) } check: { column throws(StorageError) in
      try column.check(member)
      try checkSize(member, column)
    }
  }

  func remove(member: Value, from id: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try change(id, owner) { column throws(StorageError) -> Bool in
      // The stored member may differ from the equal one given.
      let links = column.linksInside ? try links(of: column, owner, sort: member.orderKey) : []
      let statement = try take(.removeElements, column) { "DELETE FROM \(column.name) WHERE owner = ? AND sort = ?" }
      defer { connection.finish(statement) }
      statement.bind(1, owner.rawValue)
      try bindSort(2, member, column, statement)
      _ = try connection.step(statement, "remove from \(column.label)")
      guard sqlite3_changes(connection.database) > 0 else { return false }
      try change(links: links, of: column, owner, by: -1)
      return true
    } column: { () throws(StorageError) in try layout.set(id) } check: { _ in }
  }

  func set(
    _ value: Value, forKey key: String, in id: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    try change(id, owner) { column throws(StorageError) -> MemberChange.Kind? in
      let old = try self.value(ofKey: key, in: column, owner)
      if old == value { return nil }
      let statement = try take(.putElement, column) {
        "INSERT INTO \(column.name) (owner, key, value) VALUES (?, ?, ?) "
          + "ON CONFLICT (owner, key) DO UPDATE SET value = excluded.value"
      }
      defer { connection.finish(statement) }
      statement.bind(1, owner.rawValue)
      guard statement.bind(2, copying: .string(key)) == SQLITE_OK else { throw .misuse("The key is too long.") }
      try bind(3, value, column, statement) { () throws(StorageError) in
        _ = try connection.step(statement, "store in \(column.label)")
      }
      if column.linksInside {
        try change(links: old?.links ?? [], of: column, owner, by: -1)
        try change(links: value.links, of: column, owner, by: 1)
      }
      return old == nil ? .inserted : .modified
    } column: { () throws(StorageError) in try layout.map(id) } check: { column throws(StorageError) in
      try column.check(value)
      try checkSize(value, column)
      try checkSize(.string(key), column)
    }
  }

  func remove(key: String, from id: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try change(id, owner) { column throws(StorageError) -> Bool in
      guard let old = try self.value(ofKey: key, in: column, owner) else { return false }
      let statement = try take(.removeElements, column) { "DELETE FROM \(column.name) WHERE owner = ? AND key = ?" }
      defer { connection.finish(statement) }
      statement.bind(1, owner.rawValue)
      guard statement.bind(2, copying: .string(key)) == SQLITE_OK else { throw .misuse("The key is too long.") }
      _ = try connection.step(statement, "remove from \(column.label)")
      if column.linksInside { try change(links: old.links, of: column, owner, by: -1) }
      return true
    } column: { () throws(StorageError) in try layout.map(id) } check: { _ in }
  }

  /// Runs a change of a set or map of an existing object, after checking the column and then the value.
  private func change<R>(
    _ id: ColumnID, _ owner: ObjectKey, _ body: (ColumnLayout) throws(StorageError) -> R,
    column: () throws(StorageError) -> ColumnLayout, check: (ColumnLayout) throws(StorageError) -> Void
  ) throws(StorageError) -> R {
    settleInsertion()
    return try change { () throws(StorageError) -> R in
      let column = try column()
      try requireObject(try layout.table(id.table), owner)
      try check(column)
      return try body(column)
    }
  }

  private func bindSort(
    _ parameter: Int32, _ member: Value, _ column: ColumnLayout, _ statement: Statement
  ) throws(StorageError) {
    let code = statement.bind(parameter, copying: .data(Data(member.orderKey)))
    guard code == SQLITE_OK else { throw connection.failure(code, doing: "look in \(column.label)") }
  }
}
