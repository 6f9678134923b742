import Values

/// Normalised sort keys: bytes whose order is the order of the values, and their first 8 bytes as a number.
///
/// Each value is a marker (0 null, 1 value) and its bytes: integers big-endian with the sign flipped, doubles by
/// their ordinal with NaN below every number, strings and data with each 0 byte followed by 255 and two 0 bytes at
/// the end. Descending: every byte inverted, so that null comes last.
package enum SortKeyBytes {
  /// Adds one value of a sort key. Values of one column are of one type; the order is `Value.order(to:)`.
  package static func append(_ value: Value, ascending: Bool, to key: inout [UInt8]) {
    let start = key.count
    key.append(value.isNull ? 0 : 1)
    switch value {
    case .null: break
    case .float(let x): append(ordinal(Double(x)), to: &key)
    case .double(let x): append(ordinal(x), to: &key)
    case .date: append(ordinal(Double(bitPattern: UInt64(bitPattern: value.word ?? 0))), to: &key)
    case .uuid: value.withBytes { key.append(contentsOf: $0 ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
    case .string, .data: value.withBytes { appendEscaped($0, to: &key) }
    case .bool, .int, .link: append(UInt64(bitPattern: value.word ?? 0) ^ (1 << 63), to: &key)
    }
    if ascending { return }
    for i in start..<key.count { key[i] = ~key[i] }
  }

  /// The first 8 bytes as a number that orders as they do; missing bytes are 0.
  package static func prefix(of key: [UInt8]) -> UInt64 {
    var prefix: UInt64 = 0
    for i in 0..<8 { prefix = prefix << 8 | (i < key.count ? UInt64(key[i]) : 0) }
    return prefix
  }

  /// An exact prefix for a required integer, which its 8 bytes fill: no marker.
  package static func prefix(of word: Int64, ascending: Bool) -> UInt64 {
    let bits = UInt64(bitPattern: word) ^ (1 << 63)
    return ascending ? bits : ~bits
  }

  /// An exact prefix for a double, also an optional one: null is 0 and NaN 1.
  package static func prefix(of double: Double?, ascending: Bool) -> UInt64 {
    let bits = double.map { ordinal($0) } ?? 0
    return ascending ? bits : ~bits
  }

  /// Negative, 0, positive.
  @inline(__always) package static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in
        let n = min(a.count, b.count)
        for i in 0..<n where a[i] != b[i] { return a[i] < b[i] ? -1 : 1 }
        return a.count - b.count
      }
    }
  }

  /// NaN is 1, everything else is at least 2: 0 is left for null. −0.0 is 0.0.
  private static func ordinal(_ x: Double) -> UInt64 {
    if x.isNaN { return 1 }
    let bits = (x == 0 ? 0 : x).bitPattern
    // Negative numbers backwards below positive ones. The lowest is −infinity, far above 1.
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  private static func append(_ word: UInt64, to key: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: word >> shift)) }
  }

  private static func appendEscaped(_ bytes: UnsafeRawBufferPointer?, to key: inout [UInt8]) {
    for byte in bytes ?? UnsafeRawBufferPointer(start: nil, count: 0) {
      key.append(byte)
      if byte == 0 { key.append(255) }
    }
    key.append(0)
    key.append(0)
  }
}
