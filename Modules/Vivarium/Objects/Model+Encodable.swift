import Foundation
import StorageInterface
import StoreValues

extension Model {
  /// Encodes the object with the objects it links to, up to eight links away: see `encodable(depth:)`.
  public func encode(to encoder: any Encoder) throws { try encodable().encode(to: encoder) }

  /// The object as an encodable value, with the objects it links to, up to `depth` links away. Inverses are left out.
  ///
  /// ```swift
  /// let json = try JSONEncoder().encode(person.encodable(depth: 2))
  /// ```
  ///
  /// An object that is reached more than once is encoded once, with a number `"$id"`, and otherwise referred to as `{"$ref": 1}`,
  /// so cycles end. A deeper object becomes `{"$ref": "Dog-17"}`, its `objectIdentifier`, which `Store.create(_:json:)` finds in
  /// the store; so does every object that a mixed value links to. Encoding a deleted object throws `.objectDeleted`, and a mixed value
  /// with a link in an object of no store an `EncodingError`. The depth is at most 100, because encoders nest as deep as the document
  /// and the stack is limited.
  public func encodable(depth: Int = 8) -> some Encodable { EncodableGraph(root: self, depth: min(max(depth, 0), 100)) }
}

extension Results: Encodable {
  public func encode(to encoder: any Encoder) throws { try Vivarium.encode(elements: self, to: encoder) }
}

extension LinkingObjects: Encodable {
  public func encode(to encoder: any Encoder) throws { try Vivarium.encode(elements: self, to: encoder) }
}

private func encode(elements: some Sequence<some Model>, to encoder: any Encoder) throws {
  var container = encoder.unkeyedContainer()
  for element in elements { try container.encode(element.encodable()) }
}

private struct EncodableGraph<Root: Model>: Encodable {
  let root: Root
  let depth: Int

  func encode(to encoder: any Encoder) throws {
    let walk = GraphWalk()
    try walk.count(root, depth: depth)
    var container = encoder.container(keyedBy: PropertyName.self)
    try walk.encode(root, into: &container, depth: depth)
  }
}

/// Identifies an object, managed or not.
private enum GraphObject: Hashable {
  case managed(ObjectID)
  case unmanaged(ObjectIdentifier)

  init<T: Model>(_ object: T) {
    self = object.isManaged
      ? .managed(ObjectID(type: T._$name, key: ObjectKey(object._$key))) : .unmanaged(ObjectIdentifier(object))
  }
}

/// Encodes an object and the objects reached from it, each once.
private final class GraphWalk {
  /// Objects that are reached more than once.
  private var shared: Set<GraphObject> = []
  private var numbers: [GraphObject: Int] = [:]
  private var encoded: Set<GraphObject> = []

  /// Finds the shared objects within the depth. Uses a worklist instead of recursion.
  func count(_ root: any Model, depth: Int) throws {
    var reached: [GraphObject: Int] = [identity(of: root): depth]
    var work: [(object: any Model, depth: Int)] = [(root, depth)]
    while let (object, depth) = work.popLast() {
      if depth == 0 { continue }
      for target in try targets(of: object) {
        let identity = identity(of: target)
        guard let before = reached[identity] else {
          reached[identity] = depth - 1
          work.append((target, depth - 1))
          continue
        }
        shared.insert(identity)
        if before < depth - 1 {
          reached[identity] = depth - 1
          work.append((target, depth - 1))
        }
      }
    }
  }

  private func identity<T: Model>(of object: T) -> GraphObject { GraphObject(object) }

  private func targets<T: Model>(of object: T) throws -> [any Model] {
    var targets: [any Model] = []
    for property in T._$schema.properties where property.isStored && property.isRelationship {
      let value = try object.value(forKey: property.name)
      if let target = value as? any Model { targets.append(target) }
      if let elements = (value as? any KeyValueCollection)?.untypedElements {
        targets += elements.compactMap { Value.unwrapped($0) as? any Model }
      }
      if let entries = (value as? any KeyValueMap)?.untypedEntries {
        targets += entries.compactMap { Value.unwrapped($0.value) as? any Model }
      }
    }
    return targets
  }

  func encode<T: Model>(
    _ object: T, into container: inout KeyedEncodingContainer<PropertyName>, depth: Int
  ) throws {
    let identity = GraphObject(object)
    encoded.insert(identity)
    if shared.contains(identity) {
      numbers[identity] = numbers.count + 1
      try container.encode(numbers.count, forKey: PropertyName(GraphName.id))
    }
    for property in T._$schema.properties where property.isStored {
      let name = PropertyName(property.name)
      let value = try object.value(forKey: property.name)
      switch value {
      case nil: try container.encodeNil(forKey: name)
      case let target as any Model:
        var nested = container.nestedContainer(keyedBy: PropertyName.self, forKey: name)
        try refer(to: target, in: &nested, depth: depth)
      case let elements as any KeyValueCollection:
        var nested = container.nestedUnkeyedContainer(forKey: name)
        for element in elements.untypedElements { try encode(element, of: object.store, into: &nested, depth: depth) }
      case let map as any KeyValueMap:
        var nested = container.nestedContainer(keyedBy: PropertyName.self, forKey: name)
        for (key, value) in map.untypedEntries {
          try encode(value, of: object.store, for: PropertyName(key), into: &nested, depth: depth)
        }
      case let scalar as any Scalar:
        var single = container.superEncoder(forKey: name).singleValueContainer()
        try single.encode(scalar: scalar, of: object.store)
      default: break
      }
    }
  }

  private func encode(
    _ value: Any?, of store: Store?, for name: PropertyName, into container: inout KeyedEncodingContainer<PropertyName>, depth: Int
  ) throws {
    switch Value.unwrapped(value) {
    case let target as any Model:
      var nested = container.nestedContainer(keyedBy: PropertyName.self, forKey: name)
      try refer(to: target, in: &nested, depth: depth)
    case let scalar as any Scalar:
      var single = container.superEncoder(forKey: name).singleValueContainer()
      try single.encode(scalar: scalar, of: store)
    default: try container.encodeNil(forKey: name)
    }
  }

  private func encode(
    _ element: Any?, of store: Store?, into container: inout any UnkeyedEncodingContainer, depth: Int
  ) throws {
    switch Value.unwrapped(element) {
    case nil: try container.encodeNil()
    case let target as any Model:
      var nested = container.nestedContainer(keyedBy: PropertyName.self)
      try refer(to: target, in: &nested, depth: depth)
    case let scalar as any Scalar:
      var single = container.superEncoder().singleValueContainer()
      try single.encode(scalar: scalar, of: store)
    default: break
    }
  }

  /// Encodes the object itself if it is reached for the first time and within the depth; otherwise a reference.
  private func refer<T: Model>(
    to target: T, in container: inout KeyedEncodingContainer<PropertyName>, depth: Int
  ) throws {
    let identity = GraphObject(target)
    let reference = PropertyName(GraphName.reference)
    if encoded.contains(identity), let number = numbers[identity] {
      try container.encode(number, forKey: reference)
    } else if depth == 0 {
      try container.encode(target.objectIdentifier, forKey: reference)
    } else {
      try encode(target, into: &container, depth: depth - 1)
    }
  }
}

extension SingleValueEncodingContainer {
  /// Encodes a `Timestamp` as its text, which is exact; a `Date` and every other scalar as its type is encoded. `store`: of the object.
  fileprivate mutating func encode(scalar: any Scalar, of store: Store?) throws {
    if let time = scalar as? Timestamp { return try encode(time) }
    try encode(scalar.persistedValue, of: store)
  }

  /// Encodes a scalar as the Swift type it came from, so that the encoder's strategies for dates and data apply.
  fileprivate mutating func encode(_ value: Value, of store: Store?) throws {
    switch value {
    case .null: try encodeNil()
    case .bool(let x): try encode(x)
    case .int(let x): try encode(x)
    case .float(let x): try encode(x)
    case .double(let x): try encode(x)
    case .string(let x): try encode(x)
    case .data(let x): try encode(x)
    case .date(let x): try encode(x.date)
    case .uuid(let x): try encode(x)
    case .objectId(let x): try encode(x)
    case .decimal(let x): try encode(x.description)
    case .link(let x): try encode(x.rawValue)
    case .object, .list, .map: try encode(JSONNode(value, in: store))
    }
  }
}
