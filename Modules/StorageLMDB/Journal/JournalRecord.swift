import CVivariumSystem

/// The head of a record in the journal: the differences of one commit, from the version that it follows. 64 bytes, little-endian.
///
/// A record is found by what it follows, and by the number of the journal's run, which is drawn anew whenever the journal begins. So what
/// an earlier run or an earlier lap has left is none, and neither is a record whose end is torn.
struct JournalRecord: Equatable {
  static let headSize = 64
  /// Records begin at multiples of it, so that no write touches a sector that has another record's bytes.
  static let sector = 512
  private static let name: UInt64 = 0x314C_4E52_4A56_4956  // "VIVJRNL1" in the file

  /// The journal's run.
  var run: UInt64
  /// The version that the commit follows, and the one that it makes.
  var base: UInt64
  var version: UInt64
  /// The bytes behind the head, and their checksum.
  var count: Int
  var checksum: UInt64

  /// What it takes in the journal.
  var length: Int { JournalRecord.length(of: count) }

  static func length(of count: Int) -> Int { (headSize + count + sector - 1) / sector * sector }

  init(run: UInt64, base: UInt64, version: UInt64, _ payload: UnsafeRawBufferPointer) {
    (self.run, self.base, self.version) = (run, base, version)
    (count, checksum) = (payload.count, JournalRecord.checksum(payload))
  }

  /// Nil if the bytes are no head of a record that the journal can hold.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= JournalRecord.headSize else { return nil }
    func word(_ at: Int) -> UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)) }
    guard word(0) == JournalRecord.name, word(56) == JournalRecord.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<56])),
      word(24) > word(16), let count = Int(exactly: word(32)), count <= CommitJournal.recordMax
    else { return nil }
    (run, base, version, checksum) = (word(8), word(16), word(24), word(40))
    self.count = count
  }

  func write(to bytes: UnsafeMutableRawBufferPointer) {
    let words = [JournalRecord.name, run, base, version, UInt64(count), checksum, 0]
    for (i, word) in words.enumerated() { bytes.storeBytes(of: word.littleEndian, toByteOffset: i * 8, as: UInt64.self) }
    let sum = JournalRecord.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<56]))
    bytes.storeBytes(of: sum.littleEndian, toByteOffset: 56, as: UInt64.self)
  }

  /// 64 bits of two sums that differ in what they begin with.
  static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let other: UInt64 = 0x4C41_4E52_554F_4A56
    return withUnsafeBytes(of: other) { other in
      UInt64(cs_checksum(nil, 0, bytes.baseAddress, bytes.count)) << 32
        | UInt64(cs_checksum(other.baseAddress, other.count, bytes.baseAddress, bytes.count))
    }
  }
}
