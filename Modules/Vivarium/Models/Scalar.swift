import ChangeTracker
import StorageInterface
import StoreValues

/// A value that fits in one column: Bool, the integers, Float, Double, String, Data, Date, Timestamp, UUID, and enums that are
/// `PersistableEnum`.
public protocol Scalar: Persistable, PersistableElement, Hashable, Sendable {
  static var _$type: ValueType { get }
  /// The value read if there is no object, and before a required value is set.
  static var _$zero: Self { get }
  /// Decodes a row that is not null; nil if it is not a value of the type.
  static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self?
  func _$put(_ row: RowBuffer, _ slot: Int)
  func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int)
  /// nil if the boxed value has another type or is out of range.
  init?(persisted value: Value)
  var persistedValue: Value { get }
  /// The store of the objects that the value links to, which only a mixed value can; nil if it links to none, or the store is
  /// unknown.
  var _$origin: StoreIdentity? { get }
}

extension Scalar {
  public static var _$kind: PropertyKind { .scalar(_$type) }
  public static var _$isOptional: Bool { false }
  public static var _$target: String? { nil }
  public static var _$elementType: ValueType { _$type }
  public static var _$elementTarget: String? { nil }
  @inlinable public var _$origin: StoreIdentity? { nil }

  @inlinable @inline(__always)
  public static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self {
    assert(raw.reportsReadElsewhere())
    let window = raw.windows + ordinal
    if let row = window.pointee.row(of: key), !window.pointee.vector.isNull(at: row),
      let value = _$decode(window.pointee.vector, row)
    {
      return value
    }
    return _$fetch(raw, key, ordinal) ?? _$zero
  }

  @inlinable @inline(__always)
  public static func _$loadOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self? {
    assert(raw.reportsReadElsewhere())
    let window = raw.windows + ordinal
    if let row = window.pointee.row(of: key) {
      return window.pointee.vector.isNull(at: row) ? nil : _$decode(window.pointee.vector, row)
    }
    return _$fetch(raw, key, ordinal)
  }

  /// The slow path: finds the window, or asks the engine for the single value.
  @inline(never)
  public static func _$fetch(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self? {
    let context = raw.context
    switch context.locate(key, ordinal) {
    case .window(let row):
      let window = raw.windows + ordinal
      return window.pointee.vector.isNull(at: row) ? nil : _$decode(window.pointee.vector, row)
    case .point: return Self(persisted: context.value(key, ordinal))
    case .nothing: return nil
    }
  }

  public static func _$store(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self) {
    value._$set(raw.context, key, ordinal)
  }

  public static func _$storeOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self?) {
    if let value { value._$set(raw.context, key, ordinal) } else { raw.context.set(key, ordinal, .null) }
  }

  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    context.set(key, ordinal, persistedValue)
  }

  @inlinable public static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: Self) {
    value._$put(adoption.row, adoption.slots[ordinal])
  }

  @inlinable public static func _$putOptional(_ adoption: Adoption, _ ordinal: Int, _ value: Self?) {
    if let value {
      value._$put(adoption.row, adoption.slots[ordinal])
    } else {
      adoption.row.setNull(adoption.slots[ordinal])
    }
  }

  public static func _$element(_ vector: ColumnVector, _ row: Int, _ store: Store) -> Self? {
    vector.isNull(at: row) ? nil : _$decode(vector, row)
  }
  public static func _$element(_ value: Value, _ store: Store) -> Self? { value.isNull ? nil : Self(persisted: value) }
  public static func _$placeholder(_ store: Store) -> Self { _$zero }
  public func _$elementValue(_ store: Store) throws(StoreError) -> Value { persistedValue }
  public static func _$pending(_ elements: [Self]) -> PendingElements { .values(elements.map(\.persistedValue)) }

  public static func _$loose(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> Self {
    if let same = given as? Self { return same }
    let value = try Value(given, for: property, of: type)
    guard let made = Self(persisted: value) else { throw .typeMismatch(given, property) }
    return made
  }
  public static func _$looseElement(
    _ given: Any?, _ property: PropertySchema, of type: String
  ) throws(StoreError) -> Self? {
    if let same = given as? Self { return same }
    let value = try Value(given, for: property, of: type)
    if value.isNull { return nil }
    guard let made = Self(persisted: value) else { throw .typeMismatch(given, property) }
    return made
  }
}
