import CVivariumLMDB
import StorageInterface
import StoreValues

/// The adapter's own entry: which format the file has, and the version of its data. Twenty-four bytes, little
/// endian, under the key 0x00: eight of name, four of format, four of zero, eight of version.
struct StoreRecord: Equatable {
  static let name: UInt64 = 0x4D55_4952_4156_4956  // "VIVARIUM" in the file
  /// What this build writes, and the newest it reads.
  static let currentFormat: UInt32 = 1
  static let size = 24

  var format: UInt32 = StoreRecord.currentFormat
  var version: Version

  init(version: Version) { self.version = version }

  /// Nil when the bytes are not such a record.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= StoreRecord.size,
      UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) == StoreRecord.name
    else { return nil }
    format = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    version = Version(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
  }

  /// Lends the record as bytes.
  func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    withUnsafeTemporaryAllocation(byteCount: StoreRecord.size, alignment: 8) { bytes in
      bytes.storeBytes(of: StoreRecord.name.littleEndian, as: UInt64.self)
      bytes.storeBytes(of: format.littleEndian, toByteOffset: 8, as: UInt32.self)
      bytes.storeBytes(of: 0, toByteOffset: 12, as: UInt32.self)
      bytes.storeBytes(of: version.rawValue.littleEndian, toByteOffset: 16, as: UInt64.self)
      return body(UnsafeRawBufferPointer(bytes))
    }
  }
}

extension StoreRecord {
  enum Search: Equatable {
    /// The file has no entries at all: a store without a commit.
    case none
    case found(StoreRecord)
    /// There are entries, and the record is not among them.
    case foreign
    case failed(Int32)
  }

  private static let versionMax: UInt64 = 1 << 62

  /// Looks the record up.
  static func find(in transaction: OpaquePointer) -> Search {
    var statistics = MDB_stat()
    var code = mdb_stat(transaction, LMDBEnvironment.database, &statistics)
    guard code == 0 else { return .failed(code) }
    if statistics.ms_entries == 0 { return .none }
    var value = MDB_val()
    code = withRecordKey { key in
      var key = MDB_val(key)
      return mdb_get(transaction, LMDBEnvironment.database, &key, &value)
    }
    if code == MDB_NOTFOUND { return .foreign }
    guard code == 0 else { return .failed(code) }
    guard let record = StoreRecord(value.bytes) else { return .foreign }
    // A version for each commit: nobody makes so many.
    return record.version.rawValue <= versionMax ? .found(record) : .failed(MDB_CORRUPTED)
  }
}

extension MDB_val {
  /// LMDB does not write through the pointers it is given as input.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}

/// Calls `body` with the key of the store's record.
func withRecordKey<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
  withUnsafeBytes(of: 0 as UInt8) { body($0) }
}
