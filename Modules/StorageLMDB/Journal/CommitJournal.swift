#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

/// The journal of small durable commits: the part of the file of safe points behind the points.
///
/// A durable commit of LMDB writes each changed page anew and waits for the disk twice. With the journal it waits once, for a record of
/// the bytes that differ; the pages reach the disk in the background, as those of commits that are not synced do. After a crash of the
/// system the file goes back to its safe point, and the commits since are made again from the records. While the system runs nobody
/// reads the journal: what a killed process wrote is in the system's memory.
///
/// The records are in a ring. Only the holder of the writer's lock writes, and moves where the first needed one is.
struct CommitJournal {
  /// Where the ring begins in the file, and its size.
  static let start = 4_096
  static let capacity = 1 << 20
  /// The longest payload of a record.
  static let recordMax = 256 << 10
  private static let growth = 128 << 10

  /// The place behind a record, and the version that it made. The next record is there, or, where it would not fit, at the beginning.
  struct Place: Equatable, Sendable {
    var offset: Int
    var version: UInt64
  }

  let descriptor: Int32
  let path: String
  let run: UInt64

  // MARK: Reading

  /// The place behind the record that made a version, from an earlier place on; nil if the records do not lead there.
  func end(from place: Place, at version: UInt64) throws(StorageError) -> Place? {
    var place = place
    while place.version < version {
      guard let (record, offset) = try record(after: place) else { return nil }
      place = Place(offset: offset + record.length, version: record.version)
    }
    return place.version == version ? place : nil
  }

  /// The head of the record that follows a place. Its bytes are not checked.
  func record(after place: Place) throws(StorageError) -> (record: JournalRecord, offset: Int)? {
    for offset in place.offset == 0 ? [0] : [place.offset, 0] {
      guard offset >= 0, offset + JournalRecord.headSize <= CommitJournal.capacity else { continue }
      var head = [UInt8](repeating: 0, count: JournalRecord.headSize)
      let count = head.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(CommitJournal.start + offset)) }
      if count < 0 { throw failure(errno) }
      guard count == head.count, let record = head.withUnsafeBytes({ JournalRecord($0) }), record.run == run,
        record.base == place.version, offset + record.length <= CommitJournal.capacity
      else { continue }
      return (record, offset)
    }
    return nil
  }

  /// The bytes of a record; nil if they are not what its head says.
  func payload(of record: JournalRecord, at offset: Int) throws(StorageError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: record.count)
    let from = off_t(CommitJournal.start + offset + JournalRecord.headSize)
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, from) }
    if count < 0 { throw failure(errno) }
    guard count == record.count, bytes.withUnsafeBytes({ JournalRecord.checksum($0) }) == record.checksum else { return nil }
    return bytes
  }

  // MARK: Writing

  /// Appends a record, and returns when the disk has it: the place behind it. Nil, without having written, if the ring has
  /// no room: `first` is where the first needed record is or will be.
  func append(_ record: JournalRecord, _ payload: [UInt8], at place: Place, first: Int) throws(StorageError) -> Place? {
    guard let offset = CommitJournal.room(for: record.length, at: place.offset, first: first) else { return nil }
    try reserve(CommitJournal.start + offset + record.length)
    if offset != place.offset, place.offset + JournalRecord.headSize <= CommitJournal.capacity {
      // Whoever was killed before its commit may have left a record here that follows the same version.
      try write([UInt8](repeating: 0, count: JournalRecord.headSize), at: CommitJournal.start + place.offset)
    }
    var bytes = [UInt8](repeating: 0, count: record.length)
    bytes.withUnsafeMutableBytes { out in
      record.write(to: UnsafeMutableRawBufferPointer(rebasing: out[..<JournalRecord.headSize]))
      payload.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: out[JournalRecord.headSize...]).copyMemory(from: $0) }
    }
    try write(bytes, at: CommitJournal.start + offset)
    try sync()
    return Place(offset: offset + record.length, version: record.version)
  }

  /// Where a record goes; nil if there is no room. The end never meets the first record again, because then the ring would look empty.
  static func room(for length: Int, at end: Int, first: Int) -> Int? {
    if end < first { return end + length < first ? end : nil }
    if end + length <= capacity { return end }
    return length < first ? 0 : nil
  }

  /// Makes a record void.
  private func void(at offset: Int) throws(StorageError) {
    try write([UInt8](repeating: 0, count: JournalRecord.headSize), at: CommitJournal.start + offset)
    try sync()
  }

  /// Makes what follows a version void: records of commits that did not come about. `place` is behind the version's record.
  func voidRecords(after place: Place) throws(StorageError) {
    while let (_, offset) = try record(after: place) { try void(at: offset) }
  }

  /// Writes zeroes ahead, because a file that grows costs the disk more with each sync.
  private func reserve(_ length: Int) throws(StorageError) {
    let size = Int(lseek(descriptor, 0, SEEK_END))
    guard size < length else { return }
    let end = min(CommitJournal.start + CommitJournal.capacity, length + CommitJournal.growth)
    try write([UInt8](repeating: 0, count: max(0, end - size)), at: size)
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
    guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else { throw failure(errno) }
  }

  private func sync() throws(StorageError) {
    #if canImport(Darwin)
    guard SafePointFile.sync(descriptor) == 0 else { throw failure(errno) }
    #else
    guard fdatasync(descriptor) == 0 else { throw failure(errno) }
    #endif
  }

  private func failure(_ number: Int32) -> StorageError { .system(number, .transaction, doing: "read or write the journal", path: path) }
}
