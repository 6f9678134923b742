import StorageInterface
import StoreValues

/// A type that a property may have: a scalar, an optional, a `LiveList`.
public protocol Persistable {
  static var _$kind: PropertyKind { get }
  static var _$isOptional: Bool { get }
  static var _$target: String? { get }
  /// The cases of an enum, or of a collection's enum.
  static var _$cases: [DefaultValue]? { get }
  static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self
  static func _$store(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self)
  static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: Self)
  /// From an `Any?` of a dictionary or of key-value coding; objects in it stay unmanaged.
  static func _$loose(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> Self
}

/// A type that an optional or a collection may hold: a scalar or a model.
public protocol PersistableElement: SendableMetatype {
  static var _$elementType: ValueType { get }
  static var _$elementTarget: String? { get }
  static var _$elementCases: [DefaultValue]? { get }
  static func _$loadOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self?
  static func _$storeOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self?)
  static func _$putOptional(_ adoption: Adoption, _ ordinal: Int, _ value: Self?)
  /// An element of a list; nil if it cannot be read as this type.
  static func _$element(_ vector: ColumnVector, _ row: Int, _ store: Store) -> Self?
  /// The same of an element in stored form.
  static func _$element(_ value: Value, _ store: Store) -> Self?
  /// The substitute for a missing element.
  static func _$placeholder(_ store: Store) -> Self
  /// The element's stored form; an unmanaged object is added first.
  func _$elementValue(_ store: Store) throws(StoreError) -> Value
  static func _$pending(_ elements: [Self]) -> PendingElements
  /// As `_$loose`; nil is null.
  static func _$looseElement(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> Self?
}

extension Persistable {
  public static var _$cases: [DefaultValue]? { nil }
}

extension PersistableElement {
  public static var _$elementCases: [DefaultValue]? { nil }
}

/// A property computed from the other end of a relationship.
public protocol InverseProperty {
  /// The type whose relationship points here.
  associatedtype Origin: Model
  static func _$inverse(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self
  static var _$unmanaged: Self { get }
}

/// A property that points to objects of one type: the other end of an inverse.
public protocol RelationshipProperty {
  /// The type of the linked objects.
  associatedtype Target: Model
}

/// The inverse of an unmanaged object, which is empty.
public func unmanagedInverse<T: InverseProperty>() -> T { T._$unmanaged }

/// The value of a required property of an unmanaged object; the type's zero until it is set. `Store.add` rejects an object without
/// it.
@inlinable public func required<T: Scalar>(_ value: T?) -> T { value ?? T._$zero }

extension Optional: RelationshipProperty where Wrapped: Model {
  public typealias Target = Wrapped
}

extension Optional: Persistable where Wrapped: PersistableElement {
  public static var _$kind: PropertyKind { .scalar(Wrapped._$elementType) }
  public static var _$isOptional: Bool { true }
  public static var _$target: String? { Wrapped._$elementTarget }
  public static var _$cases: [DefaultValue]? { Wrapped._$elementCases }
  @inlinable @inline(__always)
  public static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self {
    Wrapped._$loadOptional(raw, key, ordinal)
  }
  public static func _$store(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self) {
    Wrapped._$storeOptional(raw, key, ordinal, value)
  }
  public static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: Self) {
    Wrapped._$putOptional(adoption, ordinal, value)
  }
  public static func _$loose(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> Self {
    Value.isNull(given) ? nil : try Wrapped._$looseElement(given, property, of: type)
  }
}
