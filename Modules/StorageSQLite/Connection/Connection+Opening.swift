import CVivariumSQLite
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

extension Connection {
  /// How long a connection waits for locks that are held for moments only: recovery of the log, its restart.
  static let patienceMilliseconds: Int32 = 10_000
  /// Page cache of one connection, in KiB. Grows with what is read, so small stores use little.
  static let cacheKilobytes = 128 << 10
  /// Of the writing connection: holds the pages of indexes that a bulk load comes back to.
  static let writerCacheKilobytes = 64 << 10
  /// The log's length is cut to this when it begins anew after having grown larger.
  static let logBytesMax = 8 << 20

  /// A connection to a file of ours, set up as all of ours are. `isImmutable`: nobody writes it, and nothing is made beside it.
  static func ours(
    _ file: StoreFile, isReadOnly: Bool, isImmutable: Bool = false, cacheKilobytes: Int = Connection.cacheKilobytes,
    takesURIs: Bool = false
  ) throws(StorageError) -> Connection {
    let connection = try Connection(
      FileAddress(file, isImmutable: isImmutable, isURI: takesURIs),
      flags: isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE)
    let database = connection.database
    sqlite3_busy_timeout(database, patienceMilliseconds)
    // Foreign programs run the triggers that log their writes; ours keep their own record.
    csqlite_configure(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    csqlite_configure(database, SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    // A misspelt name is an error, not a text.
    csqlite_configure(database, SQLITE_DBCONFIG_DQS_DML, 0)
    csqlite_configure(database, SQLITE_DBCONFIG_DQS_DDL, 0)
    sqlite3_wal_autocheckpoint(database, 0)
    try connection.execute(
      "PRAGMA cache_size = -\(cacheKilobytes); PRAGMA temp_store = MEMORY; PRAGMA synchronous = NORMAL; "
        // What a page says of its cells is looked at when it is read, and not when it is believed.
        + "PRAGMA cell_size_check = ON")
    if !isReadOnly { try connection.execute("PRAGMA journal_size_limit = \(logBytesMax)") }
    return connection
  }

  static func isOutOfDescriptors(_ number: Int32) -> Bool { number == EMFILE || number == ENFILE }
}
