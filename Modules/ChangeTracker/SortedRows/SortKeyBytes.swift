import StoreValues

/// Normalised sort keys: bytes that sort as the objects do (`Value.sortKey`), and their first 8 bytes as a number.
///
/// A nullable value begins with a marker: 0 null, 1 not null, 2 no value because of a null link. Integers, and dates by their
/// words, follow as 8 bytes, big-endian with the sign flipped; doubles as their ordinal with NaN below every number; strings
/// and data with each 0 byte followed by 255, and two 0 bytes at the end. Descending: every byte inverted, so that null comes
/// last.
package enum SortKeyBytes {
  /// Appends one value of a sort key. All values of one column have the same type, and all or none have a marker; a null
  /// without a marker counts as the lowest value.
  package static func append(_ value: Value, hasMarker: Bool, ascending: Bool, to key: inout [UInt8]) {
    switch value {
    case .null: append(null: true, hasMarker: hasMarker, ascending: ascending, to: &key)
    case .decimal, .object, .list, .map:
      append(null: false, hasMarker: hasMarker, ascending: ascending, to: &key)
      append(ordered: value, ascending: ascending, to: &key)
    case .string, .data, .uuid, .objectId:
      append(null: false, hasMarker: hasMarker, ascending: ascending, to: &key)
      let isFixed = value.type?.fixedByteCount != nil
      value.withBytes { append(bytes: $0, isFixed: isFixed, ascending: ascending, to: &key) }
    case .float(let x):
      append(null: false, hasMarker: hasMarker, ascending: ascending, to: &key)
      append(ordinal(Double(x)), ascending: ascending, to: &key)
    case .double(let x):
      append(null: false, hasMarker: hasMarker, ascending: ascending, to: &key)
      append(ordinal(x), ascending: ascending, to: &key)
    case .bool, .int, .link, .date:
      append(null: false, hasMarker: hasMarker, ascending: ascending, to: &key)
      append(UInt64(bitPattern: value.word ?? 0) ^ 1 << 63, ascending: ascending, to: &key)
    }
  }

  /// Appends a value of a column whose bytes do not sort as its values do.
  package static func append(ordered value: Value, ascending: Bool, to key: inout [UInt8]) {
    let flip: UInt8 = ascending ? 0 : 255
    for byte in value.sortKey { key.append(byte ^ flip) }
  }

  /// Appends the marker of a value, if its column has markers.
  static func append(null isNull: Bool, hasMarker: Bool, ascending: Bool, to key: inout [UInt8]) {
    guard hasMarker else { return }
    let marker: UInt8 = isNull ? 0 : 1
    key.append(ascending ? marker : ~marker)
  }

  /// Appends the marker of a row without a value, because of a null link.
  static func appendMissing(ascending: Bool, to key: inout [UInt8]) { key.append(ascending ? 2 : ~2) }

  /// Appends the bytes of a value; `isFixed` if all values of the column have the same length.
  static func append(bytes: UnsafeRawBufferPointer?, isFixed: Bool, ascending: Bool, to key: inout [UInt8]) {
    guard let bytes else { return }
    let flip: UInt8 = ascending ? 0 : 255
    if isFixed {
      for byte in bytes { key.append(byte ^ flip) }
      return
    }
    key.reserveCapacity(key.count + bytes.count + 2)
    for byte in bytes {
      key.append(byte ^ flip)
      if byte == 0 { key.append(255 ^ flip) }
    }
    key.append(flip)
    key.append(flip)
  }

  /// Appends 8 bytes that sort as the number does.
  static func append(_ word: UInt64, ascending: Bool, to key: inout [UInt8]) {
    let word = ascending ? word : ~word
    for shift in stride(from: UInt64(56), through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: word >> shift)) }
  }

  /// The first 8 bytes and the next 8 as two numbers that order as they do; missing bytes are 0.
  package static func prefixes(of key: [UInt8]) -> (first: UInt64, second: UInt64) {
    key.withUnsafeBytes { key in
      if key.count >= 16 {
        return (
          UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      }
      var numbers: (UInt64, UInt64) = (0, 0)
      withUnsafeMutableBytes(of: &numbers) { $0.copyMemory(from: key) }
      return (UInt64(bigEndian: numbers.0), UInt64(bigEndian: numbers.1))
    }
  }

  /// Compares two keys: negative, 0, positive.
  @inline(__always) package static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in
        let n = min(a.count, b.count)
        for i in 0..<n where a[i] != b[i] { return a[i] < b[i] ? -1 : 1 }
        return a.count - b.count
      }
    }
  }

  /// NaN is 1, every other value is at least 2, so 0 is free for null. −0.0 equals 0.0.
  static func ordinal(_ x: Double) -> UInt64 {
    if x.isNaN { return 1 }
    let bits = (x == 0 ? 0 : x).bitPattern
    // Negative numbers, in reverse, below positive ones. The lowest is −infinity, far above 1.
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }
}
