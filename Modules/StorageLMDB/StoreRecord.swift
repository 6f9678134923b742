import CVivariumLMDB
import StorageInterface
import StoreValues

/// The adapter's own entry: the file's format and the version of its data. Thirty-two bytes, little-endian, under the key 0x00:
/// name u64, format u32, 0 u32, version u64, and from format 2 on LMDB's transaction u64.
struct StoreRecord: Equatable {
  static let name: UInt64 = 0x4D55_4952_4156_4956  // "VIVARIUM" in the file
  /// The format of files whose entries are not encrypted.
  static let currentFormat: UInt32 = 2
  /// The format of files whose entries are (`StoreMark`), and the newest that this build reads.
  static let encryptedFormat: UInt32 = 3
  /// The size in the first format.
  static let sizeMin = 24
  static let size = 32

  var format: UInt32
  var version: Version
  /// LMDB's number of the commit that wrote it: a meta page that leads to another version is damaged. Nil in the first format.
  var transaction: UInt64?

  init(format: UInt32, version: Version, transaction: UInt64) {
    (self.format, self.version) = (format, version)
    self.transaction = StoreRecord.isSealed(format) ? transaction : nil
  }

  /// Whether each value of a file with this format ends with a checksum.
  static func isSealed(_ format: UInt32) -> Bool { format >= 2 }

  /// Whether the entries of a file with this format are encrypted. Of later ones nothing is known.
  static func isEncrypted(_ format: UInt32) -> Bool { format == encryptedFormat }

  /// Nil if the bytes are not such a record.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= StoreRecord.sizeMin,
      UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) == StoreRecord.name
    else { return nil }
    format = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    version = Version(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
    // The rest of a later format is unknown.
    if format > StoreRecord.encryptedFormat { return }
    guard StoreRecord.isSealed(format) else {
      // Format 2 with a damaged number.
      if bytes.count > StoreRecord.sizeMin { return nil }
      return
    }
    guard bytes.count >= StoreRecord.size else { return nil }
    transaction = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
  }

  /// Lends the record as bytes.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeTemporaryAllocation(byteCount: StoreRecord.size, alignment: 8) { bytes throws(E) in
      bytes.storeBytes(of: StoreRecord.name.littleEndian, as: UInt64.self)
      bytes.storeBytes(of: format.littleEndian, toByteOffset: 8, as: UInt32.self)
      bytes.storeBytes(of: 0, toByteOffset: 12, as: UInt32.self)
      bytes.storeBytes(of: version.rawValue.littleEndian, toByteOffset: 16, as: UInt64.self)
      guard let transaction else { return try body(UnsafeRawBufferPointer(rebasing: bytes[..<StoreRecord.sizeMin])) }
      bytes.storeBytes(of: transaction.littleEndian, toByteOffset: 24, as: UInt64.self)
      return try body(UnsafeRawBufferPointer(bytes))
    }
  }
}

extension StoreRecord {
  enum Search: Equatable {
    /// The file has no entries: a store without a commit.
    case none
    case found(StoreRecord)
    /// There are entries, but no record.
    case foreign
  }

  private static let versionMax: UInt64 = 1 << 62

  /// Finds the record. `.corrupt` if it cannot be read or does not belong to this version.
  static func find(in view: LMDBView) throws(StorageError) -> Search {
    if view.isEmpty { return .none }
    let bytes = try withRecordKey { key throws(StorageError) in try view.value(for: key) }
    guard let bytes, bytes.count >= 8, bytes.loadUnaligned(as: UInt64.self) == StoreRecord.name.littleEndian else { return .foreign }
    // Each commit makes one version, so higher numbers are impossible.
    guard let record = StoreRecord(bytes), record.version.rawValue <= versionMax,
      record.transaction == nil || record.transaction == view.number
    else { throw view.damage("the record of the store says what cannot be") }
    return .found(record)
  }
}

extension MDB_val {
  /// LMDB does not write through its input pointers.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}

/// Calls `body` with the key of the store's record.
func withRecordKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
  try withUnsafeBytes(of: 0 as UInt8) { bytes throws(E) in try body(bytes) }
}
