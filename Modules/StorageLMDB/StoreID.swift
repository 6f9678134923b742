import CVivariumLMDB
import StorageInterface

/// Tells one store from every other, also from one that is copied over its file. Sixteen random bytes under the key
/// 00 01, put there by the first commit that finds none and never changed: copies of a file have the same.
struct StoreID: Equatable, Sendable {
  static let unknown = StoreID(high: 0, low: 0)
  static let key: [UInt8] = [0, 1]
  static let size = 16

  var high: UInt64
  var low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// One that no other store has.
  static func random() -> StoreID { StoreID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)) }

  /// Nil when the bytes are none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= StoreID.size else { return nil }
    high = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    low = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// The one of the version that a transaction reads; `unknown` where no build has put one yet.
  static func find(in transaction: OpaquePointer) -> StoreID {
    var value = MDB_val()
    let code = key.withUnsafeBytes { bytes in
      var key = MDB_val(bytes)
      return mdb_get(transaction, LMDBEnvironment.database, &key, &value)
    }
    return code == 0 ? StoreID(value.bytes) ?? unknown : unknown
  }

  /// Gives the store one unless it has one; LMDB's code.
  static func put(_ cursor: OpaquePointer) -> Int32 {
    let new = random()
    return key.withUnsafeBytes { bytes in
      withUnsafeBytes(of: (new.high.littleEndian, new.low.littleEndian)) { id in
        var key = MDB_val(bytes)
        var value = MDB_val(id)
        let code = mdb_cursor_put(cursor, &key, &value, UInt32(MDB_NOOVERWRITE))
        return code == MDB_KEYEXIST ? 0 : code
      }
    }
  }
}
