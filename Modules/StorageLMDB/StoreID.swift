import CVivariumLMDB
import StorageInterface

/// Identifies a store, even if another one is copied over its file. Sixteen random bytes under the key 00 01, written by the
/// first commit that finds none and never changed: copies of a file have the same id.
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

  /// A new, unique id.
  static func random() -> StoreID { StoreID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)) }

  /// Nil if the bytes are too few.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= StoreID.size else { return nil }
    high = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    low = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// The id in a version; `unknown` if it has none yet.
  static func find(in view: LMDBView) throws(StorageError) -> StoreID {
    try withKey { key throws(StorageError) in try view.value(for: key) }.flatMap { StoreID($0) } ?? unknown
  }

  /// Calls `body` with the key.
  static func withKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try key.withUnsafeBufferPointer { key throws(E) in try body(UnsafeRawBufferPointer(key)) }
  }

  /// Lends the id as bytes.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeBytes(of: (high.littleEndian, low.littleEndian)) { bytes throws(E) in try body(bytes) }
  }
}
