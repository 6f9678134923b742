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
  /// How long a connection waits for briefly held locks: those of log recovery and log restart.
  static let patienceMilliseconds: Int32 = 10_000
  /// A longer log is truncated to this when it restarts.
  static let logBytesMax = 8 << 20

  /// Opens a connection with our settings to a file of ours. `isImmutable`: nobody writes the file, and no files are created
  /// beside it. `keepsLog`: as the method of that name.
  static func ours(
    _ file: StoreFile, isReadOnly: Bool, isImmutable: Bool = false, cacheKilobytes: Int = Connection.readerCacheKilobytes,
    takesURIs: Bool = false, keepsLog: Bool = false
  ) throws(StorageError) -> Connection {
    let connection = try Connection(
      FileAddress(file, isImmutable: isImmutable, isURI: takesURIs),
      flags: isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE)
    let database = connection.database
    // Before the first statement, which may find damage.
    if keepsLog { connection.keepsLog(true) }
    sqlite3_busy_timeout(database, patienceMilliseconds)
    // Foreign programs run the triggers that log their writes; our commits have their own record.
    csqlite_configure(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    csqlite_configure(database, SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    // A misspelt name is an error, not a string.
    csqlite_configure(database, SQLITE_DBCONFIG_DQS_DML, 0)
    csqlite_configure(database, SQLITE_DBCONFIG_DQS_DDL, 0)
    sqlite3_wal_autocheckpoint(database, 0)
    try connection.execute(
      "PRAGMA cache_size = -\(cacheKilobytes); PRAGMA temp_store = MEMORY; PRAGMA synchronous = NORMAL; "
        // Verify a page's cell sizes when it is read, before they are relied on.
        + "PRAGMA cell_size_check = ON")
    if !isReadOnly {
      connection.coordinationPath = file.coordinationPath
      try connection.execute("PRAGMA journal_size_limit = \(logBytesMax)")
      if losesSpilledWrites { try connection.execute("PRAGMA cache_spill = OFF") }
    }
    return connection
  }

  /// Whether this SQLite may write pages to the log before the commit and, where a savepoint is rolled back afterwards, leave checksums
  /// in it that are wrong: after a kill that commit and all later ones are lost. Pages of a write stay in memory with such a one,
  /// whatever the size of the cache.
  static var losesSpilledWrites: Bool { sqlite3_libversion_number() < 3_050_000 }

  static func isOutOfDescriptors(_ number: Int32) -> Bool { number == EMFILE || number == ENFILE }
}
