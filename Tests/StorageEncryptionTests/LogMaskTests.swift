#if Encryption
import CVivariumSQLite
import Foundation
import StorageEncryption
import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport
@testable import StorageSQLite

/// SQLite's checksums of the pages, which tell something of what is in them, are not in the log.
@Suite struct LogMaskTests {
  private static let frame = 24 + 4_096
  private static let long = """
    CREATE TABLE long (a INTEGER PRIMARY KEY, b); BEGIN;
    INSERT INTO long WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, randomblob(3000) FROM n;
    UPDATE long SET b = randomblob(2900); COMMIT; INSERT INTO long VALUES (1000, 'last')
    """

  private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// A store of its own without a log, and a connection to it that holds few pages, so that long transactions write theirs early.
  private func opened(_ place: Place) throws -> (path: String, connection: Connection) {
    let path = place.folder.file("copy").path
    try place.filled(5).writeCopy(to: path)
    return (path, try Connection.ours(place.file(path), isReadOnly: false, cacheKilobytes: 40))
  }

  private func number(_ text: String, _ connection: Connection) throws -> Int64 {
    let statement = try connection.take(text: text)
    defer { connection.finish(statement) }
    #expect(try connection.step(statement, "count"))
    return statement.int64(0)
  }

  /// Compares what is in the log's file with what SQLite finds there. Returns the number of frames.
  private func check(_ path: String, _ connection: Connection) throws -> Int {
    let (raw, log) = (try bytes(path + "-wal"), try OpenFile(SQLITE_FCNTL_JOURNAL_POINTER, of: connection))
    let header = log.read(32, at: 0).bytes
    var sum = LogSum(isBigEndian: header[3] & 1 == 1)
    sum.add(header[..<24])
    #expect(sum.bytes == Array(header[24...]) && log.read(8, at: 24).bytes == sum.bytes)
    let count = (raw.count - 32) / LogMaskTests.frame
    var masks: Set<[UInt8]> = []
    for number in 0..<count {
      let start = 32 + number * LogMaskTests.frame
      let frame = log.read(LogMaskTests.frame, at: start).bytes
      sum.add(frame[..<8])
      sum.add(frame[24...])
      // As SQLite wrote it: page, salts, checksum.
      #expect(frame[8..<16] == header[16..<24] && Array(frame[16..<24]) == sum.bytes, "frame \(number)")
      #expect(log.read(8, at: start + 16).bytes == sum.bytes)
      // And as it lies there.
      #expect(raw[start..<start + 8] == frame[..<8])
      #expect(Array(raw[start + 16..<start + 24]) != sum.bytes)
      masks.insert(Array(raw[start + 8..<start + 16]))
    }
    #expect(masks.count == count)
    return count
  }

  @Test func noChecksumIsThereAsSQLiteMadeIt() throws {
    let place = Place()
    let store = try place.filled(40)
    let connection = try Connection.ours(place.file(place.path), isReadOnly: false)
    _ = try connection.readVersions()
    #expect(try check(place.path, connection) > 5)
    withExtendedLifetime(store) {}
  }

  /// Pages that a transaction has written early and then again: SQLite makes all checksums after them anew.
  @Test func aCommitThatWroteItsPagesTwiceIsThereAfterAKill() throws {
    let place = Place()
    let (path, connection) = try opened(place)
    try connection.execute(LogMaskTests.long)
    #expect(try check(path, connection) > 200)
    let other = try Connection.ours(place.file(place.killed(path)), isReadOnly: false)
    #expect(try number("SELECT count(*) FROM long WHERE length(b) IN (2900, 4)", other) == 201)
    #expect(try number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'", other) == 1)
  }

  /// What a killed process of a build before left behind: its header says so, and the checksums are SQLite's.
  @Test func aLogOfAnEarlierBuildIsReadAndContinued() throws {
    let place = Place()
    let (path, connection) = try opened(place)
    try connection.execute(LogMaskTests.long)
    let (raw, log) = (try bytes(path + "-wal"), try OpenFile(SQLITE_FCNTL_JOURNAL_POINTER, of: connection))
    var earlier = log.read(32, at: 0).bytes
    for start in stride(from: 32, to: raw.count, by: LogMaskTests.frame) {
      earlier += log.read(LogMaskTests.frame, at: start).bytes[..<24] + raw[start + 24..<start + LogMaskTests.frame]
    }
    #expect(earlier.count == raw.count && earlier != raw)
    let left = try place.killed(path, log: earlier)
    let other = try Connection.ours(place.file(left), isReadOnly: false, cacheKilobytes: 40)
    #expect(try number("SELECT count(*) FROM long", other) == 201)

    try other.execute("BEGIN; UPDATE long SET b = randomblob(2800); UPDATE long SET b = randomblob(2700); COMMIT")
    #expect(try bytes(left + "-wal").prefix(earlier.count) == earlier[...])
    let again = try Connection.ours(place.file(place.killed(left)), isReadOnly: false)
    #expect(try number("SELECT count(*) FROM long WHERE length(b) = 2700", again) == 201)

    // The next log is as all of this build.
    try other.execute("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO long VALUES (1001, 'next')")
    #expect(try check(left, other) > 0)
    let last = try Connection.ours(place.file(place.killed(left)), isReadOnly: false)
    #expect(try number("SELECT count(*) FROM long", last) == 202)
  }

  @Test func aFrameOfAnotherLogIsNoFrame() throws {
    let place = Place()
    let (path, connection) = try opened(place)
    try connection.execute("CREATE TABLE one (a)")
    let first = try bytes(path + "-wal")
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO one VALUES (1); INSERT INTO one VALUES (2)")
    let second = try bytes(path + "-wal")
    #expect(second.count >= 32 + 2 * LogMaskTests.frame && first.count >= 32 + LogMaskTests.frame)
    #expect(first[16..<24] != second[16..<24])
    // The beginning of the earlier log's frames in the place of the later log's.
    let mixed = Array(second[..<32] + first[32..<32 + LogMaskTests.frame] + second[(32 + LogMaskTests.frame)...])
    let other = try Connection.ours(place.file(place.killed(path, log: mixed)), isReadOnly: false)
    #expect(try number("SELECT count(*) FROM one", other) == 0)
    let whole = try Connection.ours(place.file(place.killed(path)), isReadOnly: false)
    #expect(try number("SELECT count(*) FROM one", whole) == 2)
  }
}

/// The checksum of a log, as SQLite's file format has it.
private struct LogSum {
  let isBigEndian: Bool
  private var a: UInt32 = 0
  private var b: UInt32 = 0

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  /// The count is a multiple of eight.
  mutating func add(_ bytes: ArraySlice<UInt8>) {
    let isBigEndian = isBigEndian
    func word(_ start: Int) -> UInt32 {
      let four = Array(bytes[start..<start + 4])
      return (isBigEndian ? four : four.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
    }
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
      a = a &+ word(start) &+ b
      b = b &+ word(start + 4) &+ a
    }
  }

  var bytes: [UInt8] { [a, b].flatMap { number in stride(from: 24, through: 0, by: -8).map { UInt8(number >> $0 & 0xFF) } } }
}
#endif
