#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Value {
  /// Appends bytes whose `memcmp` order is the order of values (`order(to:)`); values that are the same have the same bytes. No
  /// key is a prefix of another, so keys can be concatenated. Values cannot be decoded from it.
  ///
  /// A number is the greatest double that is not above it and, if the two differ, the number as a decimal: so integers, floats,
  /// doubles and decimals compare exactly.
  public func appendOrderKey(to key: inout [UInt8]) {
    key.append(UInt8(truncatingIfNeeded: kindRank + 1))
    switch self {
    case .null: break
    case .bool(let x): key.append(x ? 1 : 0)
    case .int(let x) where x.magnitude <= 1 << 53: OrderKey.append(Double(x), to: &key)
    case .int(let x): OrderKey.append(Decimal128(x), to: &key)
    case .decimal(let x): OrderKey.append(x, to: &key)
    case .float(let x): OrderKey.append(Double(x), to: &key)
    case .double(let x): OrderKey.append(x, to: &key)
    case .string(let x): OrderKey.append(x.utf8, to: &key)
    case .data(let x): OrderKey.append(x, to: &key)
    case .date(let x): OrderKey.append(x.word, to: &key)
    case .uuid, .objectId: withBytes { if let bytes = $0 { key.append(contentsOf: bytes) } }
    case .link(let x): OrderKey.append(ObjectLink(TableID(0), x), to: &key)
    case .object(let x): OrderKey.append(x, to: &key)
    case .list(let elements):
      for element in elements { element.appendOrderKey(to: &key) }
      key.append(0)
    case .map(let map):
      for entry in map.entries {
        key.append(1)
        OrderKey.append(entry.key.utf8, to: &key)
        entry.value.appendOrderKey(to: &key)
      }
      key.append(0)
    }
  }

  /// The bytes of `appendOrderKey`.
  public var orderKey: [UInt8] {
    var key: [UInt8] = []
    appendOrderKey(to: &key)
    return key
  }
}

extension Value {
  /// Appends bytes by which objects are sorted: those of `appendOrderKey`, but all lists are equal, and all maps. So objects
  /// whose mixed values are collections keep their order, and sorting does not read the collections.
  package func appendSortKey(to key: inout [UInt8]) {
    switch self {
    case .list, .map: key.append(UInt8(truncatingIfNeeded: kindRank + 1))
    default: appendOrderKey(to: &key)
    }
  }

  /// The bytes of `appendSortKey`.
  package var sortKey: [UInt8] {
    var key: [UInt8] = []
    appendSortKey(to: &key)
    return key
  }
}

private enum OrderKey {
  static func append(_ bytes: some Sequence<UInt8>, to key: inout [UInt8]) {
    for byte in bytes {
      key.append(byte)
      if byte == 0 { key.append(255) }
    }
    key.append(0)
    key.append(0)
  }

  static func append(_ link: ObjectLink, to key: inout [UInt8]) {
    withUnsafeBytes(of: link.table.rawValue.bigEndian) { key.append(contentsOf: $0) }
    append(link.key.rawValue, to: &key)
  }

  static func append(_ word: Int64, to key: inout [UInt8]) {
    withUnsafeBytes(of: (UInt64(bitPattern: word) ^ 1 << 63).bigEndian) { key.append(contentsOf: $0) }
  }

  /// NaN is 0; a number is 1, its ordinal and 0.
  static func append(_ double: Double, to key: inout [UInt8]) {
    appendOrdinal(double, to: &key)
    if !double.isNaN { key.append(0) }
  }

  private static func appendOrdinal(_ double: Double, to key: inout [UInt8]) {
    if double.isNaN { return key.append(0) }
    key.append(1)
    let bits = double == 0 ? 0 : double.bitPattern
    let ordinal = bits >> 63 == 0 ? bits ^ 1 << 63 : ~bits
    withUnsafeBytes(of: ordinal.bigEndian) { key.append(contentsOf: $0) }
  }

  static func append(_ decimal: Decimal128, to key: inout [UInt8]) {
    let (double, isExact) = decimal.floorDouble
    appendOrdinal(double, to: &key)
    if decimal.isNaN { return }
    key.append(isExact ? 0 : 1)
    if isExact { return }
    // Neither zero nor infinite, which are doubles. Sign, exponent of the first digit, 34 digits.
    let (coefficient, exponent) = decimal.widened
    let flip: UInt8 = decimal.isNegative ? 255 : 0
    key.append(decimal.isNegative ? 0 : 1)
    withUnsafeBytes(of: UInt16(exponent + 8_192).bigEndian) { for byte in $0 { key.append(byte ^ flip) } }
    withUnsafeBytes(of: coefficient.bigEndian) { for byte in $0 { key.append(byte ^ flip) } }
  }
}
