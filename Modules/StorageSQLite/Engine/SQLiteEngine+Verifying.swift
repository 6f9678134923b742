import CVivariumSQLite
import StorageInterface

extension SQLiteEngine: StructureVerification {
  /// What SQLite knows of its own file: pages, trees, records, indexes, and that required columns have values.
  public func verifyStructure(_ read: any ReadTransaction, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let snapshot = read as? SQLiteReadTransaction, snapshot.engine === self else {
      throw .misuse("The snapshot is of another engine.")
    }
    try snapshot.enterBeside()
    defer { snapshot.leave() }
    let connection = snapshot.connection
    try SQLiteEngine.checkFile(connection, report)
    try SQLiteEngine.checkHistory(connection, report)
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
