#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// One value of an exported graph as JSON. Reading it back yields the same bits.
///
/// Integers and finite Floats and Doubles are numbers; a value without a JSON number is its bit pattern in hexadecimal digits.
/// Dates are written as text (ISO 8601, to the nanosecond); seconds since the reference date are read too. Data is base64. A link
/// is `{"$ref": 17}`, with the key that its target has as `"$id"`; encoded objects use the same names. A mixed value carries its
/// type: `["int", 3]`. Maps are lists of key and value, since keys may differ that Unicode considers equal.
enum GraphText {
  /// The names of an object's key and of a reference to it. No property can have such a name.
  static let id = "$id"
  /// What the first export format called the key.
  static let firstId = "#key"
  static let reference = "$ref"
  /// Around a map in a mixed value that would be read as a reference, or as such a map.
  static let map = "$map"

  static func node(_ value: Value, as type: ValueType) -> JSONNode {
    if value.isNull { return .null }
    switch value {
    case .null: return .null
    case .bool(let x): return .bool(x)
    case .int(let x): return .int(x)
    case .float(let x):
      return isPlain(Double(x)) ? .double(Double(x)) : .string("0x" + String(x.bitPattern, radix: 16))
    case .double(let x): return double(x)
    case .data(let x): return .string(x.base64EncodedString())
    case .string(let x): return .string(x)
    case .date, .uuid, .objectId, .decimal: return .string(value.description)
    case .link(let key): return reference(to: key)
    case .object(let link): return .array([.int(Int64(link.table.rawValue)), reference(to: link.key)])
    case .list(let elements): return .array(elements.map { mixed($0) })
    case .map(let map): return .array(map.entries.map { .array([.string($0.key), mixed($0.value)]) })
    }
  }

  /// A mixed value with its type.
  static func mixed(_ value: Value) -> JSONNode {
    if value.isNull { return .null }
    let name: String
    switch value {
    case .int: name = "int"
    case .object: name = "object"
    case .list: name = "list"
    case .map: name = "map"
    default: name = value.type?.rawValue ?? "null"
    }
    return .array([.string(name), node(value, as: value.type ?? .mixed)])
  }

  /// The value that a node represents; nil if it represents none of this type.
  static func value(_ node: JSONNode, as type: ValueType) -> Value? {
    if case .null = node { return .null }
    if type == .mixed { return mixed(node) }
    switch (type, node) {
    case (.bool, .bool(let x)): return .bool(x)
    case (.int8, .int(let x)), (.int16, .int(let x)), (.int32, .int(let x)), (.int64, .int(let x)): return .int(x)
    case (.link, _): return key(node).map { .link($0) }
    case (.float, .string(let text)): return bits(text).flatMap { UInt32(exactly: $0) }.map { .float(Float(bitPattern: $0)) }
    case (.float, _): return number(node).map { .float(Float($0)) }
    case (.double, _): return number(node).map { .double($0) }
    case (.date, .string(let text)) where !text.hasPrefix("0x"): return Timestamp(text).map { .date($0) }
    case (.date, _): return number(node).map { .date(Timestamp(secondsSinceReferenceDate: $0)) }
    case (.string, .string(let text)): return .string(text)
    case (.data, .string(let text)): return Data(base64Encoded: text).map { .data($0) }
    case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
    case (.objectId, .string(let text)): return ObjectId(text).map { .objectId($0) }
    case (.decimal, .string(let text)): return Decimal128(text).map { .decimal($0) }
    default: return nil
    }
  }

  private static func mixed(_ node: JSONNode) -> Value? {
    if case .null = node { return .null }
    guard case .array(let parts) = node, parts.count == 2, case .string(let name) = parts[0] else { return nil }
    switch (name, parts[1]) {
    case ("int", let content): return value(content, as: .int64)
    case ("object", .array(let link)):
      guard link.count == 2, case .int(let table) = link[0], let id = UInt16(exactly: table), let key = key(link[1]) else { return nil }
      return .object(ObjectLink(TableID(id), key))
    case ("list", .array(let elements)):
      let values = elements.compactMap { mixed($0) }
      return values.count == elements.count ? .list(values) : nil
    case ("map", .array(let pairs)):
      let map = ValueMap(pairs.compactMap { entry($0, as: .mixed) })
      // A key that is there twice would be there once, with one of its values.
      return map.count == pairs.count ? .map(map) : nil
    default: return ValueType(rawValue: name).flatMap { $0 == .mixed ? nil : value(parts[1], as: $0) }
    }
  }

  private static func reference(to key: ObjectKey) -> JSONNode { .object([reference: .int(key.rawValue)]) }

  /// The key in a reference. Exports of the first format contain the bare number.
  private static func key(_ node: JSONNode) -> ObjectKey? {
    switch node {
    case .int(let key): ObjectKey(key)
    case .object(let members):
      if members.count == 1, case .int(let key)? = members[reference] { ObjectKey(key) } else { nil }
    default: nil
    }
  }

  static func entry(_ node: JSONNode, as type: ValueType) -> ValueMap.Entry? {
    guard case .array(let pair) = node, pair.count == 2, case .string(let key) = pair[0] else { return nil }
    return value(pair[1], as: type).map { ValueMap.Entry(key, $0) }
  }

  private static func isPlain(_ x: Double) -> Bool { x.isFinite && !(x == 0 && x.sign == .minus) }

  private static func double(_ x: Double) -> JSONNode {
    isPlain(x) ? .double(x) : .string("0x" + String(x.bitPattern, radix: 16))
  }

  private static func number(_ node: JSONNode) -> Double? {
    switch node {
    case .int(let x): Double(x)
    case .double(let x): x
    case .string(let text): bits(text).map { Double(bitPattern: $0) }
    default: nil
    }
  }

  private static func bits(_ text: String) -> UInt64? { text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : nil }
}

extension JSONNode {
  /// Appends compact JSON. Doubles are printed as Swift prints them, so the same bits always yield the same text.
  func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let x): bytes += (x ? "true" : "false").utf8
    case .int(let x): bytes += String(x).utf8
    case .double(let x): bytes += "\(x)".utf8
    case .string(let x): JSONText.append(x, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (position, element) in elements.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        element.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (position, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}
