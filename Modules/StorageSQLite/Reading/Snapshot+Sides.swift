import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues

/// The table of side entries, created with the first of them; the catalog records that it exists.
enum SideTable {
  static let definition = "CREATE TABLE _vivarium_side (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
}

extension Snapshot: SideReading {
  final var isOpenToOthers: Bool { true }

  final func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) {
    try enterBeside()
    defer { leave() }
    try SideKey.check(key)
    guard layout.catalog.hasSideEntries else { return body(nil) }
    let statement = try connection.take(StatementKey(.side)) { "SELECT value FROM _vivarium_side WHERE key = ?" }
    try connection.with(statement, binding: key) { () throws(StorageError) in
      body(try connection.step(statement, "read a side entry") ? statement.bytes(0) : nil)
    }
  }

  final func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try enterBeside()
    defer { leave() }
    guard layout.catalog.hasSideEntries else { return }
    let statement = try connection.take(StatementKey(.sides, shape: end == nil ? 0 : 1)) {
      "SELECT key, value FROM _vivarium_side WHERE key >= ?\(end == nil ? "" : " AND key < ?") ORDER BY key"
    }
    try connection.with(statement, binding: start, end) { () throws(StorageError) in
      while try connection.step(statement, "read the side entries") {
        if body(statement.bytes(0), statement.bytes(1)) == .stop { return }
      }
    }
  }
}

extension Connection {
  /// Binds bytes to the first parameters of a statement for the duration of a call, and finishes the statement afterwards.
  func with(
    _ statement: Statement, binding first: [UInt8], _ second: [UInt8]? = nil, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    defer { finish(statement) }
    var failure: StorageError?
    first.withUnsafeBytes { first in
      (second ?? []).withUnsafeBytes { bytes in
        do throws(StorageError) {
          try bind(statement, 1, first)
          if second != nil { try bind(statement, 2, bytes) }
          try body()
        } catch {
          failure = error
        }
        // Bound without a copy: no binding may outlive the bytes.
        if mark.isStale { return }
        sqlite3_reset(statement.pointer)
        sqlite3_clear_bindings(statement.pointer)
      }
    }
    if let failure { throw failure }
  }

  private func bind(_ statement: Statement, _ parameter: Int32, _ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    let code = statement.bind(parameter, bytes: bytes, isText: false)
    guard code == SQLITE_OK else { throw failure(code, doing: "pass on a side entry") }
  }
}
