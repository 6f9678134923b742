import Foundation
import StorageInterface
import StoreValues

extension Model {
  /// Decodes an unmanaged object, with the objects it links to, from the output of `encode(to:)` or anything of that shape. Names
  /// that the model does not have are ignored; missing properties have their defaults.
  ///
  /// ```swift
  /// let person = try JSONDecoder().decode(Person.self, from: json)
  /// try store.write { try store.add(person, update: .modified) }
  /// ```
  ///
  /// A reference to an object that was left out (`{"$ref": "Dog-17"}`), as all links in mixed values are, can only be resolved in a
  /// store, so it throws; `Store.create(_:json:)` resolves it.
  public init(from decoder: any Decoder) throws {
    self.init(_$blank: ())
    try DecodedGraph().fill(self, try decoder.container(keyedBy: PropertyName.self))
  }
}

/// The objects decoded from one document so far.
private final class DecodedGraph {
  private var objects: [Int: any Model] = [:]
  private var depth = 0
  /// The limit on nesting, which could otherwise overflow the stack.
  private static let depthMax = 110

  func fill<T: Model>(_ object: T, _ container: KeyedDecodingContainer<PropertyName>) throws {
    depth += 1
    defer { depth -= 1 }
    guard depth < DecodedGraph.depthMax else {
      throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "nested too deep"))
    }
    if let id = try container.decodeIfPresent(Int.self, forKey: PropertyName(GraphName.id)) { objects[id] = object }
    for (ordinal, property) in T._$schema.properties.enumerated() where property.isStored && property.derivation == nil {
      let name = PropertyName(property.name)
      guard container.contains(name) else { continue }
      let path = T._$keyPaths[ordinal] as PartialKeyPath<T>
      let value = try untypedValue(name, property, Swift.type(of: path).valueType, container)
      try object.setUnmanaged(value, ordinal)
    }
  }

  private func untypedValue(
    _ name: PropertyName, _ property: PropertySchema, _ type: any Any.Type,
    _ container: KeyedDecodingContainer<PropertyName>
  ) throws -> Any? {
    if try container.decodeNil(forKey: name) { return nil }
    guard let valueType = property.valueType else { return nil }
    if property.isMap { return try untypedMap(valueType, type, container.nestedContainer(keyedBy: PropertyName.self, forKey: name)) }
    if let relationship = type as? any RelationshipProperty.Type {
      if property.isScalar {
        return try target(of: relationship, container.nestedContainer(keyedBy: PropertyName.self, forKey: name))
      }
      var nested = try container.nestedUnkeyedContainer(forKey: name)
      var elements: [Any?] = []
      while !nested.isAtEnd {
        elements.append(try target(of: relationship, nested.nestedContainer(keyedBy: PropertyName.self)))
      }
      return elements
    }
    if property.isScalar { return try container.superDecoder(forKey: name).singleValueContainer().value(valueType) }
    var nested = try container.nestedUnkeyedContainer(forKey: name)
    var elements: [Any?] = []
    while !nested.isAtEnd {
      if try nested.decodeNil() {
        elements.append(nil)
      } else {
        elements.append(try nested.superDecoder().singleValueContainer().value(valueType))
      }
    }
    return elements
  }

  private func untypedMap(
    _ valueType: ValueType, _ type: any Any.Type, _ container: KeyedDecodingContainer<PropertyName>
  ) throws -> [String: Any?] {
    var entries: [String: Any?] = [:]
    for key in container.allKeys {
      if let relationship = type as? any RelationshipProperty.Type {
        entries[key.stringValue] = try target(
          of: relationship, container.nestedContainer(keyedBy: PropertyName.self, forKey: key)) as Any?
      } else {
        entries[key.stringValue] = try container.superDecoder(forKey: key).singleValueContainer().value(valueType) as Any?
      }
    }
    return entries
  }

  private func target<P: RelationshipProperty>(
    of property: P.Type, _ container: KeyedDecodingContainer<PropertyName>
  ) throws -> P.Target {
    let reference = PropertyName(GraphName.reference)
    if container.contains(reference) {
      guard let number = try? container.decode(Int.self, forKey: reference), let known = objects[number] as? P.Target else {
        throw DecodingError.dataCorruptedError(
          forKey: reference, in: container, debugDescription: "the object that is referred to is not in the document")
      }
      return known
    }
    let made = P.Target(_$blank: ())
    try fill(made, container)
    return made
  }
}

extension SingleValueDecodingContainer {
  fileprivate func value(_ type: ValueType) throws -> Value {
    switch type {
    case .bool: .bool(try decode(Bool.self))
    case .int8, .int16, .int32, .int64: .int(try decode(Int64.self))
    case .float: .float(try decode(Float.self))
    case .double: .double(try decode(Double.self))
    case .string: .string(try decode(String.self))
    case .data: .data(try decode(Data.self))
    // Most date strategies of a decoder do not accept the text of a `Timestamp` property.
    case .date: .date(try (try? decode(Date.self)).map { Timestamp($0) } ?? decode(Timestamp.self))
    case .uuid: .uuid(try decode(UUID.self))
    case .objectId: .objectId(try decode(ObjectId.self))
    case .decimal:
      // A number counts as it is written, up to the 38 digits of Foundation's type.
      if let decimal = (try? decode(Decimal.self)).map({ Decimal128($0) }) {
        .decimal(decimal)
      } else if let decimal = Decimal128(try decode(String.self)) {
        .decimal(decimal)
      } else {
        throw DecodingError.dataCorruptedError(in: self, debugDescription: "no decimal number")
      }
    case .mixed: try mixed()
    case .link: .null
    }
  }

  private func mixed() throws -> Value {
    let node = try decode(JSONNode.self)
    if node.refers {
      throw DecodingError.dataCorruptedError(
        in: self, debugDescription: "an object that a mixed value links to is found only in a store: use 'create(_:json:)'")
    }
    return Value(mixed: node, isOfGraph: true)
  }
}
