import Foundation
import StorageInterface
import StoreValues

/// A value of any type, for a property whose type is known only when it is set: a scalar, a link to an object of any model, a
/// nested list or map of such values, or null.
///
/// ```swift
/// @Model final class Note { var extra: AnyValue }
///
/// note.extra = 3
/// note.extra = ["tags": ["a", "b"], "size": 4.5]
/// note.extra["size"]?.double            // 4.5
/// note.extra = try AnyValue(dog)         // an object of the store
/// note.extra.object(Dog.self, in: store)
/// ```
///
/// It has value semantics: changing a part of it sets the whole property. Equality is bit-exact; `1` and `1.0` differ, and so do links
/// to objects of different stores. A value with links to objects belongs to their store; another store rejects it with `.wrongStore`,
/// in a property as in a condition.
public struct AnyValue: Sendable, Hashable {
  /// The value as the store keeps it; `.null` for none.
  public var value: StoreValues.Value
  /// The store whose objects the value links to; nil if it has no links, or the store is unknown.
  var store: StoreIdentity?

  /// Creates a mixed value; null without an argument.
  public init(_ value: StoreValues.Value = .null) { self.value = value }

  /// Creates a mixed value from the stored form of a scalar.
  public init(_ scalar: some Scalar) { self.init(scalar.persistedValue) }

  /// Creates a link to an object of a store. Throws `.notManaged` for an unmanaged object, `.objectDeleted` for a deleted one.
  ///
  /// When the object is deleted later, links to it become null; so does a link set after the deletion.
  public init<T: Model>(_ object: T) throws(StoreError) {
    guard let context = object.context else {
      throw StoreError(
        .notManaged, "A mixed value links to objects of a store, and the \(T._$name) is in none.", remedy: "Add it first.")
    }
    try context.check(object._$key)
    self.init(.object(ObjectLink(context.table, ObjectKey(object._$key))), of: context.store)
  }

  /// The linked object, if it has this type and is in that store's version.
  public func object<T: Model>(_ type: T.Type, in store: Store) -> T? {
    let context = store.context(type)
    if let own = self.store, own != store.identity { return nil }
    guard case .object(let link) = value, link.table == context.table, context.lives(link.key.rawValue) else { return nil }
    return store.live(link.key.rawValue)
  }

  /// Whether the value is null.
  public var isNull: Bool { value.isNull }
  /// The value, if it is a Bool.
  public var bool: Bool? { Bool(persisted: value) }
  /// The value, if it is an integer.
  public var int: Int? { Int(persisted: value) }
  /// The value, if it is a Float.
  public var float: Float? { Float(persisted: value) }
  /// The value, if it is a Double.
  public var double: Double? { Double(persisted: value) }
  /// The value, if it is a string.
  public var string: String? { String(persisted: value) }
  /// The value, if it is bytes.
  public var data: Data? { Data(persisted: value) }
  /// The value, if it is a date; rounded to the nearest `Date`.
  public var date: Date? { Date(persisted: value) }
  /// The value, if it is a date, to the nanosecond.
  public var timestamp: Timestamp? { Timestamp(persisted: value) }
  /// The value, if it is a UUID.
  public var uuid: UUID? { UUID(persisted: value) }
  /// The value, if it is an ObjectId.
  public var objectId: ObjectId? { ObjectId(persisted: value) }
  /// The value, if it is a decimal.
  public var decimal: Decimal128? { Decimal128(persisted: value) }

  /// The elements of a nested list.
  public var list: [AnyValue]? {
    if case .list(let values) = value { values.map { AnyValue(part: $0, of: self) } } else { nil }
  }

  /// The keys and values of a nested map.
  public var map: [String: AnyValue]? {
    guard case .map(let map) = value else { return nil }
    return Dictionary(map.entries.map { ($0.key, AnyValue(part: $0.value, of: self)) }) { $1 }
  }

  /// A value of a nested map. Setting one replaces a value that is not a map by a map; setting nil removes the key.
  public subscript(key: String) -> AnyValue? {
    get {
      guard case .map(let map) = value else { return nil }
      return map[key].map { AnyValue(part: $0, of: self) }
    }
    set {
      var map = ValueMap()
      if case .map(let known) = value { map = known }
      map[key] = newValue?.value
      value = .map(map)
      store = AnyValue.common([store, newValue?.store])
    }
  }

  /// An element of a nested list; nil outside its bounds.
  public subscript(position: Int) -> AnyValue? {
    guard case .list(let values) = value, values.indices.contains(position) else { return nil }
    return AnyValue(part: values[position], of: self)
  }
}

extension AnyValue: Scalar {
  public static var _$type: ValueType { .mixed }
  public static var _$zero: AnyValue { AnyValue() }
  public static var _$isOptional: Bool { true }
  public static func _$decode(_ vector: ColumnVector, _ row: Int) -> AnyValue? {
    AnyValue(vector.value(at: row, as: .mixed))
  }
  public func _$put(_ row: RowBuffer, _ slot: Int) { row.set(slot, value) }
  public init?(persisted value: StoreValues.Value) { self.init(value) }
  public var persistedValue: StoreValues.Value { value }
  public var _$origin: StoreIdentity? { linkedStore }
  /// A null element is an element like any other.
  public static func _$element(_ vector: ColumnVector, _ row: Int, _ store: Store) -> AnyValue? {
    AnyValue(vector.value(at: row, as: .mixed), of: store)
  }
  public static func _$element(_ value: StoreValues.Value, _ store: Store) -> AnyValue? { AnyValue(value, of: store) }
  public static func _$loose(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> AnyValue {
    try _$looseElement(given, property, of: type) ?? _$zero
  }
  public static func _$looseElement(
    _ given: Any?, _ property: PropertySchema, of type: String
  ) throws(StoreError) -> AnyValue? {
    if let same = given as? AnyValue { return same }
    var made = AnyValue(try StoreValues.Value(given, for: property, of: type))
    made.store = AnyValue.store(of: given)
    return made
  }
}

extension AnyValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self.init(.null) }
  public init(booleanLiteral value: Bool) { self.init(.bool(value)) }
  public init(integerLiteral value: Int64) { self.init(.int(value)) }
  public init(floatLiteral value: Double) { self.init(.double(value)) }
  public init(stringLiteral value: String) { self.init(.string(value)) }
  public init(arrayLiteral elements: AnyValue...) {
    self.init(.list(elements.map(\.value)))
    store = AnyValue.common(elements.map(\.store))
  }
  public init(dictionaryLiteral elements: (String, AnyValue)...) {
    self.init(.map(ValueMap(elements.map { ValueMap.Entry($0.0, $0.1.value) })))
    store = AnyValue.common(elements.map(\.1.store))
  }
}

extension AnyValue: CustomStringConvertible {
  public var description: String { value.description }
}
