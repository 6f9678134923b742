/// A version to which the file can be restored after a system crash: LMDB's meta page from a time when everything was synced.
/// 256 bytes in the file; little-endian integers.
struct SafePoint: Equatable {
  static let size = 256
  /// The part of a meta page that LMDB reads.
  static let metaSize = 152
  private static let name: UInt64 = 0x3145_4641_5356_4956  // "VIVSAFE1" in the file
  /// Of a point with a journal.
  private static let journaledName: UInt64 = 0x3245_4641_5356_4956  // "VIVSAFE2" in the file

  /// Incremented with each point written.
  var sequence: UInt64
  /// Whether commits after the point may not be synced. False: all commits are, and there is nothing to restore.
  var isArmed: Bool
  /// Identifies the system boot in which the point was written; while it runs, the system's caches have the unsynced data.
  var system: SystemStart
  /// The data file's inode: a file put in its place is unrelated to the point.
  var inode: UInt64
  /// LMDB's number of the transaction that the point preserves.
  var transaction: UInt64
  var meta: [UInt8]
  /// The store the point belongs to; unknown in points of older builds and for files they wrote last.
  var store = StoreID.unknown
  /// The version of the point; valid only with `store`.
  var version: UInt64 = 0
  /// The run of the journal that leads on from the point, and the place of its first record; 0: there is no journal.
  var run: UInt64 = 0
  var journalOffset: UInt64 = 0

  /// Nil if the bytes are not a complete point.
  init?(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == SafePoint.size else { return nil }
    func word(_ at: Int) -> UInt64 {
      UInt64(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: UInt64.self) })
    }
    guard word(0) == SafePoint.name || word(0) == SafePoint.journaledName,
      word(248) == SafePoint.checksum(bytes[..<248])
    else { return nil }
    sequence = word(8)
    isArmed = word(16) != 0
    system = SystemStart(high: word(24), low: word(32))
    inode = word(40)
    transaction = word(48)
    meta = Array(bytes[56..<56 + SafePoint.metaSize])
    store = StoreID(high: word(208), low: word(216))
    version = word(224)
    guard word(0) == SafePoint.journaledName else { return }
    (run, journalOffset) = (word(232), word(240))
  }

  /// Whether a slot of a file begins with our mark.
  static func isMarked(_ bytes: [UInt8], at place: Int) -> Bool {
    guard place + 8 <= bytes.count else { return false }
    let found = bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
    return found == name || found == journaledName
  }

  init(sequence: UInt64, isArmed: Bool, system: SystemStart, inode: UInt64, transaction: UInt64, meta: [UInt8]) {
    self.sequence = sequence
    self.isArmed = isArmed
    self.system = system
    self.inode = inode
    self.transaction = transaction
    self.meta = meta
  }

  var bytes: [UInt8] {
    var result: [UInt8] = []
    func put(_ word: UInt64) { withUnsafeBytes(of: word.littleEndian) { result.append(contentsOf: $0) } }
    put(run == 0 ? SafePoint.name : SafePoint.journaledName)
    for word in [sequence, isArmed ? 1 : 0, system.high, system.low, inode, transaction] { put(word) }
    result += meta
    for word in [store.high, store.low, version, run, journalOffset] { put(word) }
    put(SafePoint.checksum(result[...]))
    return result
  }

  /// FNV-1a.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

/// Identifies one boot of the operating system.
struct SystemStart: Equatable, Sendable {
  var high: UInt64
  var low: UInt64
}
