#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The encoding of a mixed value: a tag and its payload, up to the end. Null has no bytes of its own except inside lists and
/// maps.
///
/// | tag | value | follows |
/// |---|---|---|
/// | 0 | null, inside lists and maps alone | |
/// | 1, 2 | false, true | |
/// | 3 | integer | 8 bytes |
/// | 4, 5 | Float, Double | bit pattern of 4 or 8 bytes |
/// | 6, 7 | String, Data | the bytes |
/// | 8 | Date | 8 bytes, the word of a `Timestamp` |
/// | 9, 10 | UUID, ObjectId | 16 or 12 bytes |
/// | 11 | Decimal128 | 16 bytes, as in a column |
/// | 12 | link | table u16, key i64 |
/// | 13 | list | for each element its length u32 and its bytes |
/// | 14 | map | for each key, ascending: length u32, the key, length u32, the value |
///
/// Numbers are little endian. Equal values have equal bytes.
public enum MixedCoding {
  /// The maximum nesting depth of lists and maps.
  public static let depthMax = 100

  /// The kind of a mixed value, its first byte.
  public enum Tag: UInt8, Sendable {
    case null, isFalse, isTrue, int, float, double, string, data, date, uuid, objectId, decimal, link, list, map
  }

  /// The bytes of a value that fits a mixed column (`Value.fits`); nil for null and for values that do not fit.
  public static func encode(_ value: Value) -> [UInt8]? {
    if value.isNull || !value.fits(.mixed) { return nil }
    var bytes: [UInt8] = []
    append(value, to: &bytes)
    return bytes
  }

  private static func append(_ value: Value, to bytes: inout [UInt8]) {
    func put(_ tag: Tag, _ number: some FixedWidthInteger) {
      bytes.append(tag.rawValue)
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    switch value {
    case .null: bytes.append(Tag.null.rawValue)
    case .bool(let x): bytes.append((x ? Tag.isTrue : .isFalse).rawValue)
    case .int(let x): put(.int, x)
    case .float(let x): put(.float, x.bitPattern)
    case .double(let x): put(.double, x.bitPattern)
    case .date(let x): put(.date, x.word)
    case .string, .data, .uuid, .objectId, .decimal:
      bytes.append(tag(of: value).rawValue)
      value.withBytes { if let content = $0 { bytes.append(contentsOf: content) } }
    case .object(let link):
      put(.link, link.table.rawValue)
      withUnsafeBytes(of: link.key.rawValue.littleEndian) { bytes.append(contentsOf: $0) }
    case .list(let elements):
      bytes.append(Tag.list.rawValue)
      for element in elements { appendPart(element, to: &bytes) }
    case .map(let map):
      bytes.append(Tag.map.rawValue)
      for entry in map.entries {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: entry.key.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: entry.key.utf8)
        appendPart(entry.value, to: &bytes)
      }
    case .link: bytes.append(Tag.null.rawValue)  // does not fit, so `encode` never comes here
    }
  }

  private static func appendPart(_ value: Value, to bytes: inout [UInt8]) {
    let place = bytes.count
    bytes.append(contentsOf: [0, 0, 0, 0])
    append(value, to: &bytes)
    let length = UInt32(truncatingIfNeeded: bytes.count - place - 4)
    for i in 0..<4 { bytes[place + i] = UInt8(truncatingIfNeeded: length >> UInt32(i * 8)) }
  }

  private static func tag(of value: Value) -> Tag {
    switch value {
    case .string: .string
    case .data: .data
    case .uuid: .uuid
    case .objectId: .objectId
    default: .decimal
    }
  }

  /// The value encoded by some bytes; nil for invalid bytes. Safe for arbitrary bytes.
  public static func decode(_ bytes: UnsafeRawBufferPointer) -> Value? {
    guard let value = decode(bytes, depth: 0), !value.isNull else { return nil }
    return value
  }

  private static func decode(_ bytes: UnsafeRawBufferPointer, depth: Int) -> Value? {
    guard let first = bytes.first, let tag = Tag(rawValue: first), depth <= depthMax else { return nil }
    let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    func number<N: FixedWidthInteger>(_: N.Type) -> N? {
      content.count == N.bitWidth / 8 ? N(littleEndian: content.loadUnaligned(as: N.self)) : nil
    }
    switch tag {
    case .null: return content.isEmpty ? .null : nil
    case .isFalse: return content.isEmpty ? .bool(false) : nil
    case .isTrue: return content.isEmpty ? .bool(true) : nil
    case .int: return number(Int64.self).map { .int($0) }
    case .float: return number(UInt32.self).map { .float(Float(bitPattern: $0)) }
    case .double: return number(UInt64.self).map { .double(Double(bitPattern: $0)) }
    case .date: return number(Int64.self).map { .date(Timestamp(word: $0)) }
    case .string: return Value(bytes: content, type: .string)
    case .data: return Value(bytes: content, type: .data)
    case .uuid: return Value(bytes: content, type: .uuid)
    case .objectId: return Value(bytes: content, type: .objectId)
    case .decimal: return Value(bytes: content, type: .decimal)
    case .link:
      guard content.count == 10 else { return nil }
      let table = UInt16(littleEndian: content.loadUnaligned(as: UInt16.self))
      let key = Int64(littleEndian: content.loadUnaligned(fromByteOffset: 2, as: Int64.self))
      guard key <= ObjectLink.keyMax else { return nil }
      return .object(ObjectLink(TableID(table), ObjectKey(key)))
    case .list: return list(content, depth: depth)
    case .map: return map(content, depth: depth)
    }
  }

  private static func list(_ bytes: UnsafeRawBufferPointer, depth: Int) -> Value? {
    var rest = bytes
    var elements: [Value] = []
    while !rest.isEmpty {
      guard let part = part(&rest), let element = decode(part, depth: depth + 1) else { return nil }
      elements.append(element)
    }
    return .list(elements)
  }

  private static func map(_ bytes: UnsafeRawBufferPointer, depth: Int) -> Value? {
    var rest = bytes
    var entries: [ValueMap.Entry] = []
    while !rest.isEmpty {
      guard let key = part(&rest), let part = part(&rest), let value = decode(part, depth: depth + 1) else { return nil }
      let text = String(decoding: key, as: UTF8.self)
      if let last = entries.last, !last.key.utf8.lexicographicallyPrecedes(text.utf8) { return nil }
      entries.append(ValueMap.Entry(text, value))
    }
    return .map(ValueMap(entries))
  }

  /// Takes a length, and as many bytes, from the front.
  private static func part(_ rest: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard rest.count >= 4 else { return nil }
    let length = Int(UInt32(littleEndian: rest.loadUnaligned(as: UInt32.self)))
    guard length <= rest.count - 4 else { return nil }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest[(4 + length)...]) }
    return UnsafeRawBufferPointer(rebasing: rest[4..<4 + length])
  }
}
