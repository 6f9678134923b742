#if os(Linux)
import CVivariumSystem
import ColumnStore
import Foundation
import StorageCoordination
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import StorageLMDB

/// How a version is held without a place in LMDB's table of readers, and how writers find out.
struct ReaderPinsTests {
  private let scratch: Scratch
  private let path: String
  private let writer: LMDBStore

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a")
    writer = try LMDBStore(path: path)
    try writer.put(LMDBOutsideReaderTests.entries(1), 1, .full)
  }

  /// A reader outside of the table, in this process: its locks are those of another open file, and LMDB's locks are not touched. Its
  /// handle is never closed, because what its snapshots lend lies there.
  private func outsider() throws -> LMDBEnvironment {
    let files = try #require(LMDBFiles(existing: path))
    let raw = try RawEnvironment(files: files, isReadOnly: true, isLockless: true, mapSize: RawEnvironment.mapSizeMin, mode: 0)
    let pins = try #require(try ReaderPins(files, of: raw.pointer))
    return LMDBEnvironment(
      raw: raw, token: 0, files: files, presence: nil, writerLock: nil, bell: try FileDoorbell(path: files.bell, isReadOnly: true),
      pins: pins, map: MapBounds())
  }

  @Test func aTableThatSaysItIsEndlessIsNotWalkedToItsEnd() throws {
    let long = scratch.file("long")
    try Data().write(to: URL(fileURLWithPath: long + "-lock"))
    try Data("x".utf8).write(to: URL(fileURLWithPath: long))
    #expect(truncate(long + "-lock", 1 << 40) == 0)
    let table = try ReaderTable(try #require(LMDBFiles(existing: long)))
    defer { table.end() }
    #expect(table.count > 0 && table.count <= 1 << 16)
    #expect(table.number(0) != nil && table.number(-1) == nil && table.number(table.count) == nil && table.process(table.count) == 0)
    // And one that is too short for a line has none.
    #expect(truncate(long + "-lock", 100) == 0)
    let short = try ReaderTable(try #require(LMDBFiles(existing: long)))
    defer { short.end() }
    #expect(short.count == 0 && short.number(0) == nil)
  }

  /// Another open file of the data.
  private func openAgain() throws -> Int32 {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    return file
  }

  /// What LMDB's table says is read.
  private func told() throws -> [UInt64] { LMDBStore.readers(try writer.environment()).compactMap(\.transaction) }

  @Test func aVersionIsHeldAsLongAsOneOfItsReaders() throws {
    let (reader, file) = (try outsider(), try openAgain())
    defer { close(file) }
    #expect(ReaderPins.oldest(file) == nil && ReaderPins.held(file).isEmpty)
    let first = try LMDBSnapshot(reader)
    let second = try LMDBSnapshot(reader)
    let number = try #require(ReaderPins.oldest(file))
    try writer.put([("b", "2")], 2, .full)
    let third = try LMDBSnapshot(reader)
    #expect(ReaderPins.held(file) == [number, number + 1])
    #expect(reader.pins?.own.sorted() == [number, number, number + 1])
    first.end()
    #expect(ReaderPins.oldest(file) == number)
    second.end()
    #expect(ReaderPins.held(file) == [number + 1])
    third.end()
    #expect(ReaderPins.oldest(file) == nil)
    #expect(reader.pins?.own == [])
  }

  @Test func itsPagesAreNeitherWrittenOverNorGivenBack() throws {
    let held = try LMDBSnapshot(try outsider())
    let key = Array("k7".utf8)
    let lent = try #require(try key.withUnsafeBytes { try held.value(for: $0) })
    let text = String(decoding: lent, as: UTF8.self)
    for version in 2...30 {
      try writer.put(LMDBOutsideReaderTests.entries(version), UInt64(version), version % 3 == 0 ? .full : .relaxed)
      if version % 7 == 0 { _ = try writer.reclaimSpace(.never) }
    }
    #expect(try LMDBOutsideReaderTests.isWhole(held, 1))
    #expect(String(decoding: lent, as: UTF8.self) == text)
    let statistics = try writer.statistics()
    #expect(statistics.pins == [VersionPin(version: Version(1), processID: 0)] && statistics.heldBytes > 1_000_000)
    held.end()
    #expect(try writer.statistics().pins.isEmpty)
    try writer.put([("last", "31")], 31, .full)
    #expect(try writer.reclaimSpace(.never) > 1_000_000)
  }

  /// LMDB keeps what the newest version needs for two commits by itself, so a hold of many is the case.
  @Test func aReaderThatComesWithinAHoldIsSeenByItsNextCommit() throws {
    let reader = try outsider()
    let right = try writer.acquireWriter(.never)
    try right.apply(KeyValueBatch(LMDBOutsideReaderTests.entries(2), 2), .full)
    let held = try LMDBSnapshot(reader)
    for version in 3...20 { try right.apply(KeyValueBatch(LMDBOutsideReaderTests.entries(version), UInt64(version)), .full) }
    #expect(try LMDBOutsideReaderTests.isWhole(held, 2))
    right.end()
    held.end()
  }

  @Test func readersAndAWriterWithoutPauseNeverMeetAWrongValue() throws {
    let reader = try outsider()
    let last = 400
    let written = onThread { [writer] in
      for version in 2...last { try? writer.put(LMDBOutsideReaderTests.entries(version), UInt64(version), .relaxed) }
    }
    var count = 0
    while written.count == 0 || count == 0 {
      let snapshot = try LMDBSnapshot(reader)
      defer { snapshot.end() }
      #expect(try LMDBOutsideReaderTests.isWhole(snapshot, Int(snapshot.version.rawValue)))
      count += 1
    }
    #expect(try writer.latestVersion() == Version(UInt64(last)))
  }

  @Test func theFloorIsFoundAmongReadersThatComeAndGo() throws {
    let environment = try writer.environment()
    try writer.put([("b", "2")], 2, .full)
    let enough = Signal()
    let threads = (0..<2).map { _ in
      onThread { while enough.count == 0 { if let read = try? environment.beginRead() { environment.endRead(read) } } }
    }
    let file = try openAgain()
    defer { close(file) }
    // Before what all others read.
    #expect(cs_lock_shared(file, ReaderPins.start + 1, 1) == 0)
    for _ in 0..<50 {
      try environment.lowerFloor(.statement)
      #expect(try told().contains(1))
      environment.liftFloor()
      #expect(try !told().contains(1))
      // Each time another line.
      environment.endFloor()
    }
    enough.fire()
    #expect(threads.allSatisfy { $0.wait() })
  }

  @Test func theFloorOfADeadWriterEndsWithIt() async throws {
    let file = try openAgain()
    defer { close(file) }
    try writer.put([("b", "2")], 2, .full)
    #expect(cs_lock_shared(file, ReaderPins.start + 1, 1) == 0)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try LMDBStore(path: path)
      let right = try store.acquireWriter(.never)
      try store.environment().lowerFloor(.statement)
      kill(getpid(), SIGKILL)
      right.end()
    }
    #expect(try told().contains(1))
    #expect(cs_unlock(file, ReaderPins.start + 1, 1) == 0)
    // Who follows a dead holder of the right to write clears its lines.
    try writer.put([("b", "3")], 3, .full)
    #expect(try !told().contains(1))
  }

  @Test func aVersionThatIsReadThoughItsCommitFailedKeepsWritersAway() throws {
    let file = try openAgain()
    defer { close(file) }
    #expect(cs_lock_shared(file, ReaderPins.start + 100, 1) == 0)
    let refused = #expect(throws: StorageError.self) { try writer.put([("b", "2")], 2, .full) }
    #expect(refused?.code == .alreadyOpen && refused?.scope == .transaction)
    #expect(try writer.latestVersion() == Version(1))
    #expect(cs_unlock(file, ReaderPins.start + 100, 1) == 0)
    try writer.put([("b", "2")], 2, .full)
    #expect(try writer.text("b") == "2")
  }

  @Test func numbersThatNoTransactionHasAreRefused() throws {
    let files = try #require(LMDBFiles(existing: path))
    let pins = try #require(try ReaderPins(files, of: writer.environment().pointer))
    let refused = #expect(throws: StorageError.self) { try pins.hold(.max) }
    #expect(refused?.code == .corrupt)
    pins.letGo(.max)
    #expect(pins.own.isEmpty)
  }
}
#endif
