/// 64-bit fingerprints of the keys that an open write has touched: "never touched" is certain, "touched" has a tiny chance of
/// being wrong. Open addressing.
struct FingerprintSet {
  private var slots: [UInt64] = []
  private var used = 0

  init() {}

  static func fingerprint(_ word: UInt64) -> UInt64 {
    var z = word &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return max(z ^ (z >> 31), 1)
  }

  static func fingerprint(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(bytes.count)
    var i = 0
    while i + 8 <= bytes.count {
      hash = fingerprint(hash ^ bytes.loadUnaligned(fromByteOffset: i, as: UInt64.self))
      i += 8
    }
    while i < bytes.count {
      hash = (hash ^ UInt64(bytes[i])) &* 0x100_0000_01B3
      i += 1
    }
    return fingerprint(hash)
  }

  @inline(__always) func contains(_ fingerprint: UInt64) -> Bool {
    guard used > 0 else { return false }
    return slots.withUnsafeBufferPointer { slots in
      let mask = slots.count &- 1
      var i = Int(truncatingIfNeeded: fingerprint) & mask
      while slots[i] != 0 {
        if slots[i] == fingerprint { return true }
        i = (i &+ 1) & mask
      }
      return false
    }
  }

  @inline(__always) mutating func insert(_ fingerprint: UInt64) {
    if used &* 2 >= slots.count { grow() }
    place(fingerprint)
  }

  private mutating func place(_ fingerprint: UInt64) {
    let isNew = slots.withUnsafeMutableBufferPointer { slots in
      let mask = slots.count &- 1
      var i = Int(truncatingIfNeeded: fingerprint) & mask
      while slots[i] != 0 {
        if slots[i] == fingerprint { return false }
        i = (i &+ 1) & mask
      }
      slots[i] = fingerprint
      return true
    }
    if isNew { used += 1 }
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: max(64, old.count * 2))
    used = 0
    for fingerprint in old where fingerprint != 0 { place(fingerprint) }
  }
}
