import CVivariumSystem
import StorageInterface

/// The bytes of a record while it is made: how the entries of a commit differ from what the file has.
///
/// Each entry: the key's length u16, what was done u8, 0 u8, the key; for a value its length u32 and its bytes; for a patch the lengths of
/// the old and the new value u32, the checksum of the new one u32, the number of places u32, and for each place its offset u32, its
/// length u32 and its bytes. Little-endian.
struct JournalDifferences {
  enum Kind: UInt8 {
    case removal, value, patch
  }

  /// Shorter values are written whole.
  private static let patchedMin = 128
  /// Equal bytes between two places that are not worth a place of their own.
  private static let gapMin = 16

  private(set) var bytes: [UInt8] = []
  /// More than a record holds; what follows is not written.
  private(set) var isTooLong = false

  init() { bytes.reserveCapacity(4_096) }

  mutating func remove(_ key: UnsafeRawBufferPointer) {
    guard begin(key, .removal) else { return }
  }

  /// - Parameter old: the value in the file; nil if the key is new.
  mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, over old: UnsafeRawBufferPointer?) {
    if let old, old.count >= JournalDifferences.patchedMin, value.count >= JournalDifferences.patchedMin,
      patch(key, value, old)
    {
      return
    }
    guard begin(key, .value) else { return }
    put(UInt32(value.count))
    append(value)
  }

  private mutating func begin(_ key: UnsafeRawBufferPointer, _ kind: Kind) -> Bool {
    if bytes.count > CommitJournal.recordMax { isTooLong = true }
    if isTooLong { return false }
    withUnsafeBytes(of: UInt16(truncatingIfNeeded: key.count).littleEndian) { bytes.append(contentsOf: $0) }
    bytes.append(kind.rawValue)
    bytes.append(0)
    bytes.append(contentsOf: key)
    return true
  }

  private mutating func put(_ number: UInt32) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ added: UnsafeRawBufferPointer) {
    if bytes.count + added.count > CommitJournal.recordMax {
      isTooLong = true
    } else {
      bytes.append(contentsOf: added)
    }
  }

  /// Writes the places where two values differ. False, without a trace, if they differ too much.
  private mutating func patch(_ key: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer, _ old: UnsafeRawBufferPointer) -> Bool {
    let start = bytes.count
    guard begin(key, .patch) else { return true }
    put(UInt32(old.count))
    put(UInt32(new.count))
    put(cs_checksum(key.baseAddress, key.count, new.baseAddress, new.count))
    let countPlace = bytes.count
    put(0)
    let limit = bytes.count + new.count / 2
    var (places, at) = (0, 0)
    let common = min(old.count, new.count)
    while let from = JournalDifferences.firstDifference(old, new, from: at, to: common) {
      var end = from + 1
      while end < common {
        let equal = JournalDifferences.firstDifference(old, new, from: end, to: min(common, end + JournalDifferences.gapMin))
        guard let equal else { break }
        end = equal + 1
      }
      if bytes.count + end - from + 8 > limit { return revert(to: start) }
      place(new, from..<end)
      places += 1
      at = end
    }
    if new.count > common {
      if bytes.count + new.count - common + 8 > limit { return revert(to: start) }
      place(new, common..<new.count)
      places += 1
    }
    withUnsafeBytes(of: UInt32(places).littleEndian) { bytes.replaceSubrange(countPlace..<countPlace + 4, with: $0) }
    return true
  }

  private mutating func revert(to start: Int) -> Bool {
    bytes.removeSubrange(start...)
    return false
  }

  private mutating func place(_ new: UnsafeRawBufferPointer, _ range: Range<Int>) {
    put(UInt32(range.lowerBound))
    put(UInt32(range.count))
    append(UnsafeRawBufferPointer(rebasing: new[range]))
  }

  /// Eight bytes at a time.
  private static func firstDifference(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, from start: Int, to end: Int
  ) -> Int? {
    var i = start
    while i + 8 <= end {
      let difference = a.loadUnaligned(fromByteOffset: i, as: UInt64.self) ^ b.loadUnaligned(fromByteOffset: i, as: UInt64.self)
      if difference != 0 { return i + difference.littleEndian.trailingZeroBitCount / 8 }
      i += 8
    }
    while i < end {
      if a[i] != b[i] { return i }
      i += 1
    }
    return nil
  }
}
