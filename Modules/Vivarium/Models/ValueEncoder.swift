import Foundation
import StoreValues

/// Encodes a `Codable` value as a mixed value: a map of its fields, bit for bit, so that conditions can test the fields.
///
/// Dates, data, UUIDs, ObjectIds and decimals keep their types; integers beyond Int64 become decimals.
struct ValueEncoder: Encoder {
  private let node: EncodedNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The value; throws what its own `encode(to:)` throws.
  static func value(of content: some Encodable) throws -> Value { try EncodedNode(content, at: []).value }

  fileprivate init(_ node: EncodedNode, _ codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.becomeMap()
    return KeyedEncodingContainer(KeyedFields<Key>(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.becomeList()
    return Elements(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

/// A value being encoded; containers fill it after they were requested.
private final class EncodedNode {
  private enum Content {
    case value(Value)
    case list([EncodedNode])
    case map([String: EncodedNode])
  }

  private var content = Content.value(.null)

  init() {}

  init(_ given: some Encodable, at path: [any CodingKey]) throws { try set(given, at: path) }

  func set(_ given: some Encodable, at path: [any CodingKey]) throws {
    if let value = Value(plain: given) { content = .value(value) } else { try given.encode(to: ValueEncoder(self, path)) }
  }

  func setNull() { content = .value(.null) }

  func becomeMap() {
    if case .map = content { return }
    content = .map([:])
  }

  func becomeList() {
    if case .list = content { return }
    content = .list([])
  }

  var count: Int {
    if case .list(let elements) = content { elements.count } else { 0 }
  }

  func append() -> EncodedNode {
    let node = EncodedNode()
    if case .list(var elements) = content {
      content = .value(.null)  // so that the array is not copied
      elements.append(node)
      content = .list(elements)
    }
    return node
  }

  func field(_ name: String) -> EncodedNode {
    let node = EncodedNode()
    if case .map(var fields) = content {
      content = .value(.null)
      fields[name] = node
      content = .map(fields)
    }
    return node
  }

  var value: Value {
    switch content {
    case .value(let value): value
    case .list(let elements): .list(elements.map(\.value))
    case .map(let fields): .map(ValueMap(fields.map { ValueMap.Entry($0.key, $0.value.value) }))
    }
  }
}

extension Value {
  /// The scalar form; nil for a value with fields.
  fileprivate init?(plain given: some Encodable) {
    switch given {
    case let x as Bool: self = .bool(x)
    case let x as any BinaryInteger: self = Int64(exactly: x).map { .int($0) } ?? .decimal(Decimal128("\(x)") ?? .nan)
    case let x as Float: self = .float(x)
    case let x as Double: self = .double(x)
    case let x as String: self = .string(x)
    case let x as Data: self = .data(x)
    case let x as Date: self = .date(Timestamp(x))
    case let x as Timestamp: self = .date(x)
    case let x as UUID: self = .uuid(x)
    case let x as ObjectId: self = .objectId(x)
    case let x as Decimal128: self = .decimal(x)
    default: return nil
    }
  }
}

extension ValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { node.setNull() }
  func encode(_ value: some Encodable) throws { try node.set(value, at: codingPath) }
}

private struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) throws { node.field(key.stringValue).setNull() }
  func encode(_ value: some Encodable, forKey key: Key) throws {
    try node.field(key.stringValue).set(value, at: codingPath + [key])
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    ValueEncoder(node.field(key.stringValue), codingPath + [key]).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ValueEncoder(node.field(key.stringValue), codingPath + [key]).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { ValueEncoder(node.field("super"), codingPath) }
  func superEncoder(forKey key: Key) -> any Encoder { ValueEncoder(node.field(key.stringValue), codingPath + [key]) }
}

private struct Elements: UnkeyedEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  var count: Int { node.count }

  func encodeNil() throws { node.append().setNull() }
  func encode(_ value: some Encodable) throws { try node.append().set(value, at: codingPath) }
  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    ValueEncoder(node.append(), codingPath).container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    ValueEncoder(node.append(), codingPath).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { ValueEncoder(node.append(), codingPath) }
}
