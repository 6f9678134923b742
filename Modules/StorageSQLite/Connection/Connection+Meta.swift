#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// The tables in every file of ours, besides one per type.
enum MetaTables {
  /// "Viva" in the file's application id.
  static let applicationID: Int32 = 0x5669_7661
  /// The newest format that this build reads, stored in the file's user version. A file with a higher one is not opened. A file
  /// has format 1 until its catalog needs more (`Catalog.formatNeeded`).
  static let format = Int32(Catalog.formatMax)

  static let definitions = [
    """
    CREATE TABLE _vivarium_catalog (
      version INTEGER PRIMARY KEY /* the commit that brought it */,
      catalog TEXT NOT NULL /* JSON */
    )
    """,
    """
    CREATE TABLE _vivarium_types (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      objects INTEGER NOT NULL,
      last_key INTEGER NOT NULL /* highest _key ever given out */
    )
    """,
    """
    CREATE TABLE _vivarium_history (
      version INTEGER PRIMARY KEY,
      record BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE _vivarium_foreign (
      sequence INTEGER PRIMARY KEY,
      type INTEGER NOT NULL,
      key INTEGER NOT NULL,
      change TEXT NOT NULL,
      property INTEGER
    )
    """,
  ]
}

/// The counters of one type.
struct ObjectCounters {
  var objects: Int
  var lastKey: Int64
}

extension Connection {
  /// The newest version, and the version of the newest catalog, in the snapshot.
  func readVersions() throws(StorageError) -> (version: Version, catalog: Int64) {
    let statement = try take(StatementKey(.version)) {
      "SELECT (SELECT max(version) FROM _vivarium_history), (SELECT max(version) FROM _vivarium_catalog)"
    }
    defer { finish(statement) }
    guard try step(statement, "read the version") else { return (Version(0), 0) }
    guard statement.int64(0) < .max else {
      throw named(
        StorageError(.corrupt, .engine, "The history has no room for another version.", remedy: "Restore the file from a copy."))
    }
    return (Version(UInt64(max(0, statement.int64(0)))), statement.int64(1))
  }

  /// The newest catalog of the snapshot; an empty one if there is none yet.
  func readCatalog() throws(StorageError) -> Catalog {
    // Read from the snapshot, because the file's first bytes may be older than its log.
    let format = try number(of: "user_version")
    guard format <= MetaTables.format else {
      throw StorageError(
        .unsupportedVersion, .engine, "The file has format \(format); this build knows formats up to \(MetaTables.format).",
        remedy: "Open the file with a newer build.")
    }
    let statement = try take(StatementKey(.catalog)) {
      "SELECT catalog FROM _vivarium_catalog ORDER BY version DESC LIMIT 1"
    }
    defer { finish(statement) }
    guard try step(statement, "read the catalog") else { return Catalog() }
    let catalog: Catalog
    do { catalog = try Catalog(json: statement.bytes(0)) } catch {
      throw named(
        StorageError(
          .corrupt, .engine, "The catalog in '_vivarium_catalog' cannot be read: \(error).",
          remedy: "Restore the file from a copy."))
    }
    try catalog.check(format: Int(format))
    return catalog
  }

  func writeCatalog(_ catalog: Catalog, _ version: Version) throws(StorageError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let text: String
    do { text = String(decoding: try encoder.encode(catalog), as: UTF8.self) } catch {
      throw .misuse("The catalog cannot be written as JSON: \(error).")
    }
    try execute("DELETE FROM _vivarium_catalog")
    try execute("INSERT INTO _vivarium_catalog (version, catalog) VALUES (\(version.rawValue), \(text.sqlLiteral))")
  }

  func counters(of table: TableLayout) throws(StorageError) -> ObjectCounters {
    let statement = try take(StatementKey(.objectCount)) {
      "SELECT objects, last_key FROM _vivarium_types WHERE id = ?"
    }
    defer { finish(statement) }
    statement.bind(1, Int64(table.number))
    guard try step(statement, "count \(table.name)") else { return ObjectCounters(objects: 0, lastKey: 0) }
    let counters = ObjectCounters(objects: Int(max(0, statement.int64(0))), lastKey: max(0, statement.int64(1)))
    // Callers allocate memory by this count.
    if counters.objects > Connection.countUnasked, try Int64(counters.objects) > bytesOfPages() {
      throw named(.impossible("The count of \(table.name)"))
    }
    return counters
  }

  /// Counts up to this are trusted without checking the file's size.
  static let countUnasked = 1 << 16

  /// The size of all pages of the snapshot: an upper bound for everything in it.
  func bytesOfPages() throws(StorageError) -> Int64 { try number(of: "page_count") * max(1, number(of: "page_size")) }

  /// Updates the counters. Issued keys stay issued, so the last key never decreases.
  func setCounters(_ counters: ObjectCounters, of table: TableLayout) throws(StorageError) {
    let statement = try take(StatementKey(.setCounters)) {
      "UPDATE _vivarium_types SET objects = ?, last_key = max(last_key, ?) WHERE id = ?"
    }
    defer { finish(statement) }
    statement.bind(1, Int64(counters.objects))
    statement.bind(2, counters.lastKey)
    statement.bind(3, Int64(table.number))
    _ = try step(statement, "count \(table.name)")
  }

  /// The highest key in use.
  func largestKey(_ table: TableLayout) throws(StorageError) -> Int64 {
    let statement = try take(StatementKey(.largestKey, table.number)) { "SELECT max(_key) FROM \(table.name)" }
    defer { finish(statement) }
    return try step(statement, "read \(table.name)") ? statement.int64(0) : 0
  }

  /// The number that a pragma returns.
  func number(of pragma: String) throws(StorageError) -> Int64 {
    let statement = try take(text: "PRAGMA \(pragma)")
    defer { finish(statement) }
    return try step(statement, "read \(pragma)") ? statement.int64(0) : 0
  }
}
