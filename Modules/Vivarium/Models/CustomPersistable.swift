import StorageInterface
import StoreValues

/// A type of yours that is stored as one of the scalars: `persistableValue` goes into the store, and `init(persistedValue:)`
/// makes it again.
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
/// It is queried, sorted and indexed as what it is stored as. A property of it that was never set is made from that scalar's
/// zero.
public protocol CustomPersistable: Scalar, PredicateArgument {
  /// What is stored.
  associatedtype PersistedType: Scalar
  /// Makes a value of what was stored. It must take every one: `FailableCustomPersistable` need not.
  init(persistedValue: PersistedType)
  /// What to store; `init(persistedValue:)` has to make the same value of it.
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
}

/// A `CustomPersistable` that not every stored value can be made of: another version of the program, or another program,
/// may have written one that is none.
public protocol FailableCustomPersistable: Scalar, PredicateArgument {
  /// What is stored.
  associatedtype PersistedType: Scalar
  /// Makes a value of what was stored; nil where it is none of this type.
  init?(persistedValue: PersistedType)
  /// What to store; `init(persistedValue:)` has to make the same value of it.
  var persistableValue: PersistedType { get }
  /// What a stored value reads as that is none of this type. An optional property reads as nil.
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
}
