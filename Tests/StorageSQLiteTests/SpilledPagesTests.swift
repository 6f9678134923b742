import CVivariumSQLite
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport
@testable import StorageSQLite

/// Writes that are larger than the cache, with parts of them taken back.
@Suite struct SpilledPagesTests {
  /// A copy of the file and its log, made while they are open, is what a killed process leaves.
  @Test func aKillAfterALargeWriteWithASavepointLosesNoCommit() throws {
    let place = Place()
    try place.open().close()
    let connection = try Connection.ours(StoreFile(path: place.path), isReadOnly: false)
    defer { connection.shut() }
    func insert(_ numbers: ClosedRange<Int>) throws {
      for number in numbers { try connection.execute("INSERT INTO piece VALUES (\(number), randomblob(3000))") }
    }
    try connection.execute("CREATE TABLE piece (k INTEGER PRIMARY KEY, bytes BLOB); PRAGMA cache_size = 5; BEGIN IMMEDIATE")
    try insert(1...100)
    try connection.execute("SAVEPOINT part")
    try insert(101...300)
    try connection.execute("UPDATE piece SET bytes = randomblob(3000) WHERE k > 150; ROLLBACK TO part; RELEASE part")
    try insert(1000...1000)
    try connection.execute("COMMIT")
    try insert(1001...1001)
    let copy = place.directory.file("copy.sqlite").path
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: place.path + suffix, toPath: copy + suffix) }
    #expect(try Raw(copy).rows("SELECT count(*) FROM piece") == ["102"])
  }

  /// The copy comes back into the file within one step of SQLite's, and is as large as the file.
  @Test func aVacuumHoldsNoMorePagesThanItsCache() throws {
    let place = Place()
    try place.open().close()
    let connection = try Connection.ours(StoreFile(path: place.path), isReadOnly: false, cacheKilobytes: 200)
    defer { connection.shut() }
    /// How many pages went to the disk before a commit since this was asked last.
    func spilled() -> Int64 {
      var (count, most): (Int32, Int32) = (0, 0)
      #expect(sqlite3_db_status(connection.database, SQLITE_DBSTATUS_CACHE_SPILL, &count, &most, 1) == SQLITE_OK)
      return Int64(count)
    }
    try connection.execute("CREATE TABLE piece (k INTEGER PRIMARY KEY, bytes BLOB); BEGIN IMMEDIATE")
    for number in 1...1000 { try connection.execute("INSERT INTO piece VALUES (\(number), randomblob(3000))") }
    try connection.execute("COMMIT; DELETE FROM piece WHERE k % 2 = 0")
    let (pages, setting) = (try connection.number(of: "page_count"), try connection.number(of: "cache_spill"))
    _ = spilled()
    try connection.vacuum()
    let left = try connection.number(of: "page_count")
    #expect(left > 400 && left < pages - 400)
    // All but what the cache holds.
    #expect(spilled() > left * 3 / 4)
    #expect(try (connection.number(of: "cache_spill") == 0) == (setting == 0))
    let copy = place.directory.file("copy.sqlite").path
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: place.path + suffix, toPath: copy + suffix) }
    #expect(try Raw(copy).rows("SELECT count(*), sum(k % 2) FROM piece") == ["500|500"])
    #expect(try Raw(copy).rows("PRAGMA integrity_check") == ["ok"])
  }
}
