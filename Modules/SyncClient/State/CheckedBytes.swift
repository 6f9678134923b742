/// Bytes with a checksum: FNV-1a of 64 bits, little endian, behind them. It finds damage, and no forgery.
struct CheckedBytes: Sendable {
  /// The bytes, and the checksum.
  let sealed: [UInt8]

  /// O(bytes).
  init(_ bytes: [UInt8]) {
    var checksum = CheckedBytes.checksum(bytes[...])
    var sealed = bytes
    for _ in 0..<8 {
      sealed.append(UInt8(truncatingIfNeeded: checksum))
      checksum >>= 8
    }
    self.sealed = sealed
  }

  /// The bytes without the checksum; nil if they are damaged. O(bytes).
  static func opened(_ sealed: [UInt8]) -> [UInt8]? {
    guard sealed.count >= 8 else { return nil }
    let bytes = sealed.dropLast(8)
    let checksum = sealed.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return checksum == CheckedBytes.checksum(bytes) ? Array(bytes) : nil
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBufferPointer { bytes in
      var sum: UInt64 = 0xCBF2_9CE4_8422_2325
      for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
      return sum
    }
  }
}
