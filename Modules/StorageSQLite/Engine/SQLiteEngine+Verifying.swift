import CVivariumSQLite
import StorageInterface

extension SQLiteEngine: StructureVerification {
  /// Runs SQLite's own verification: pages, trees, records, indexes, and NOT NULL columns.
  public func verifyStructure(_ read: any ReadTransaction, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let snapshot = read as? SQLiteReadTransaction, snapshot.engine === self else {
      throw .misuse("The snapshot is of another engine.")
    }
    try snapshot.enterBeside()
    defer { snapshot.leave() }
    let connection = snapshot.connection
    try SQLiteEngine.checkFile(connection, report)
    try SQLiteEngine.checkHistory(connection, report)
    try SQLiteEngine.checkSides(connection, snapshot.catalog, report)
  }

  private static func checkSides(
    _ connection: Connection, _ catalog: Catalog, _ report: (StoreFault) -> Void
  ) throws(StorageError) {
    let place = "side entries"
    let tables = try connection.take(text: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_vivarium_side'")
    defer { connection.finish(tables) }
    let isThere = try connection.step(tables, "look for side entries")
    guard isThere, catalog.hasSideEntries else {
      if isThere { report(StoreFault(place, "are there, and the catalog does not know of any")) }
      if catalog.hasSideEntries { report(StoreFault(place, "have no table, and the catalog knows of some")) }
      return
    }
    let wrong = try connection.take(
      text: """
        SELECT hex(key) FROM _vivarium_side
        WHERE typeof(key) != 'blob' OR length(key) NOT BETWEEN 1 AND \(SideKey.countMax) OR typeof(value) != 'blob'
        """)
    defer { connection.finish(wrong) }
    do throws(StorageError) {
      while try connection.step(wrong, "check the side entries") {
        let key = String(decoding: wrong.bytes(0).prefix(48), as: UTF8.self).lowercased()
        report(StoreFault("side entry \(key)", "has a key or a value that is none"))
      }
    } catch {
      report(StoreFault(place, error.message))
    }
  }

  private static func checkHistory(_ connection: Connection, _ report: (StoreFault) -> Void) throws(StorageError) {
    let statement = try connection.take(
      text: """
        SELECT version, (SELECT max(b.version) FROM _vivarium_history b WHERE b.version < a.version) AS last
        FROM _vivarium_history a WHERE last < version - 1
        """)
    defer { connection.finish(statement) }
    do throws(StorageError) {
      while try connection.step(statement, "check the history") {
        report(StoreFault("history", "version \(statement.int64(0)) follows version \(statement.int64(1))"))
      }
    } catch {
      report(StoreFault("history", error.message))
    }
  }

  private static func checkFile(_ connection: Connection, _ report: (StoreFault) -> Void) throws(StorageError) {
    let statement = try connection.take(text: "PRAGMA integrity_check(1000)")
    defer { connection.finish(statement) }
    do throws(StorageError) {
      while try connection.step(statement, "check the file") {
        guard let text = sqlite3_column_text(statement.pointer, 0) else { continue }
        let line = String(cString: text)
        if line != "ok" { report(StoreFault("file", line)) }
      }
    } catch {
      report(StoreFault("file", error.message))
    }
  }
}
