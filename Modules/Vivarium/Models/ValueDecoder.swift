import Foundation
import StoreValues

/// Decodes a `Codable` value from the form `ValueEncoder` wrote. Accepts a number of another type if nothing is lost.
struct ValueDecoder: Decoder {
  fileprivate let value: Value
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Throws a `DecodingError` if the value does not have that form.
  static func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
    try ValueDecoder(value, []).decode(type)
  }

  fileprivate init(_ value: Value, _ codingPath: [any CodingKey]) {
    self.value = value
    self.codingPath = codingPath
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let map) = value else { throw mismatch([String: Value].self) }
    return KeyedDecodingContainer(DecodedFields<Key>(map: map, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .list(let elements) = value else { throw mismatch([Value].self) }
    return DecodedElements(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func mismatch(_ type: any Any.Type) -> DecodingError {
    .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "the stored value is \(value)"))
  }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { value.isNull }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let plain = try plain(type) { return plain }
    return try T(from: self)
  }

  /// Decodes a scalar type; nil for a type with fields.
  private func plain<T>(_ type: T.Type) throws -> T? {
    let found: Any?
    switch type {
    case is Bool.Type, is Float.Type, is Double.Type, is String.Type, is Data.Type, is Date.Type, is Timestamp.Type,
      is UUID.Type, is ObjectId.Type, is Decimal128.Type:
      guard let scalar = type as? any Scalar.Type else { return nil }
      found = converted(scalar)
    case let integer as any FixedWidthInteger.Type: found = number(integer)
    default: return nil
    }
    guard let made = found as? T else { throw mismatch(type) }
    return made
  }

  /// Also accepts the string form that JSON has.
  private func converted<S: Scalar>(_ type: S.Type) -> S? {
    Value.converted(value, to: S._$type).flatMap { S(persisted: $0) }
  }

  private func number<N: FixedWidthInteger>(_ type: N.Type) -> N? {
    switch value {
    case .int(let x): N(exactly: x)
    case .double(let x): N(exactly: x)
    case .decimal(let x): N(x.description)
    default: nil
    }
  }

  // Compiler-synthesized decoding of these types calls these.
  func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
  func decode(_ type: String.Type) throws -> String { try scalar(type) }
  func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
  func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
  func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }

  private func scalar<T>(_ type: T.Type) throws -> T {
    guard let made = try plain(type) else { throw mismatch(type) }
    return made
  }
}

private struct DecodedFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: ValueMap
  let codingPath: [any CodingKey]

  var allKeys: [Key] { map.entries.compactMap { Key(stringValue: $0.key) } }
  func contains(_ key: Key) -> Bool { map[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try field(key).decodeNil() }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try field(key).decode(type) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try field(key).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try field(key).unkeyedContainer() }
  func superDecoder() throws -> any Decoder { ValueDecoder(map["super"] ?? .null, codingPath) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

  private func field(_ key: Key) throws -> ValueDecoder {
    guard let value = map[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "nothing is stored for it"))
    }
    return ValueDecoder(value, codingPath + [key])
  }
}

private struct DecodedElements: UnkeyedDecodingContainer {
  let elements: [Value]
  let codingPath: [any CodingKey]
  var currentIndex = 0

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, elements[currentIndex].isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let made = try current().decode(type)
    currentIndex += 1
    return made
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    let made = try current().container(keyedBy: type)
    currentIndex += 1
    return made
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let made = try current().unkeyedContainer()
    currentIndex += 1
    return made
  }

  mutating func superDecoder() throws -> any Decoder {
    let made = try current()
    currentIndex += 1
    return made
  }

  private func current() throws -> ValueDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(Value.self, .init(codingPath: codingPath, debugDescription: "the list has ended"))
    }
    return ValueDecoder(elements[currentIndex], codingPath)
  }
}
