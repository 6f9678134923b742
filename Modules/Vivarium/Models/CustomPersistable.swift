import StorageInterface
import StoreValues

/// A custom type stored as a scalar: `persistableValue` is stored, and `init(persistedValue:)` recreates the value.
///
/// ```swift
/// struct Temperature: CustomPersistable, Comparable {
///   var kelvin: Double
///   init(persistedValue: Double) { kelvin = persistedValue }
///   var persistableValue: Double { kelvin }
///   static func < (a: Self, b: Self) -> Bool { a.kelvin < b.kelvin }
/// }
/// ```
///
/// Queries, sorting and indexes use the stored scalar. A property that was never set is created from that scalar's zero.
public protocol CustomPersistable: Scalar, PredicateArgument {
  /// The type of the stored value.
  associatedtype PersistedType: Scalar
  /// Creates a value from a stored one. Must accept every stored value; `FailableCustomPersistable` need not.
  init(persistedValue: PersistedType)
  /// The value to store; `init(persistedValue:)` must recreate an equal value from it.
  var persistableValue: PersistedType { get }
}

extension CustomPersistable {
  public static var _$type: ValueType { PersistedType._$type }
  public static var _$cases: [DefaultValue]? { PersistedType._$cases }
  public static var _$elementCases: [DefaultValue]? { PersistedType._$cases }
  public static var _$zero: Self { Self(persistedValue: PersistedType._$zero) }
  @inlinable public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? {
    PersistedType._$decode(vector, row).map { Self(persistedValue: $0) }
  }
  @inlinable public func _$put(_ row: RowBuffer, _ slot: Int) { persistableValue._$put(row, slot) }
  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    persistableValue._$set(context, key, ordinal)
  }
  public init?(persisted value: Value) {
    guard let stored = PersistedType(persisted: value) else { return nil }
    self.init(persistedValue: stored)
  }
  public var persistedValue: Value { persistableValue.persistedValue }
  @inlinable public var _$origin: StoreIdentity? { persistableValue._$origin }
}

/// A `CustomPersistable` that cannot be created from every stored value: another version of the program, or another program, may
/// have stored an invalid one.
public protocol FailableCustomPersistable: Scalar, PredicateArgument {
  /// The type of the stored value.
  associatedtype PersistedType: Scalar
  /// Creates a value from a stored one; nil if it is not valid.
  init?(persistedValue: PersistedType)
  /// The value to store; `init(persistedValue:)` must recreate an equal value from it.
  var persistableValue: PersistedType { get }
  /// The value read in place of an invalid stored one. An optional property reads as nil.
  static var placeholder: Self { get }
}

extension FailableCustomPersistable {
  public static var _$type: ValueType { PersistedType._$type }
  public static var _$cases: [DefaultValue]? { PersistedType._$cases }
  public static var _$elementCases: [DefaultValue]? { PersistedType._$cases }
  public static var _$zero: Self { placeholder }
  @inlinable public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? {
    PersistedType._$decode(vector, row).flatMap { Self(persistedValue: $0) }
  }
  @inlinable public func _$put(_ row: RowBuffer, _ slot: Int) { persistableValue._$put(row, slot) }
  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    persistableValue._$set(context, key, ordinal)
  }
  public init?(persisted value: Value) {
    guard let stored = PersistedType(persisted: value) else { return nil }
    self.init(persistedValue: stored)
  }
  public var persistedValue: Value { persistableValue.persistedValue }
  @inlinable public var _$origin: StoreIdentity? { persistableValue._$origin }
}
