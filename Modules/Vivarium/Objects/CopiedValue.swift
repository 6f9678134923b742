import StorageInterface
import StoreValues

/// The value of a property, outside any store.
enum CopiedValue: Sendable, Hashable {
  case scalar(Value)
  /// A list or a set.
  case list([Value])
  case map(ValueMap)

  var scalar: Value {
    if case .scalar(let value) = self { value } else { .null }
  }

  var elements: [Value] {
    if case .list(let values) = self { values } else { [] }
  }

  var entries: [ValueMap.Entry] {
    if case .map(let map) = self { map.entries } else { [] }
  }
}

extension CopiedValue {
  /// The value of a stored property of an object; null or empty if there is no object.
  init(_ property: PropertySchema, _ column: ColumnID, _ key: ObjectKey, in reading: any StorageReading) throws(StorageError) {
    switch property.kind {
    case .scalar: self = .scalar(try reading.value(column, key))
    case .list, .set: self = .list(try reading.values(column, key, 0..<Int.max))
    case .map: self = .map(ValueMap(try reading.entries(column, key, 0..<Int.max)))
    case .linkingObjects: self = .scalar(.null)
    }
  }

  /// The value of an unmanaged object's property. Linked objects without a key become null.
  init(unmanaged value: Any?) {
    switch Value.unwrapped(value) {
    case let scalar as any Scalar: self = .scalar(scalar.persistedValue)
    case let object as any Model: self = .scalar(CopiedValue.link(object))
    case let elements as any KeyValueCollection: self = .list(elements.untypedElements.map { CopiedValue(unmanaged: $0).scalar })
    case let map as any KeyValueMap:
      self = .map(ValueMap(map.untypedEntries.map { ValueMap.Entry($0.key, CopiedValue(unmanaged: $0.value).scalar) }))
    default: self = .scalar(.null)
    }
  }

  private static func link(_ object: any Model) -> Value {
    object._$key == 0 ? .null : .link(ObjectKey(object._$key))
  }
}
