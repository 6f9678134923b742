import StorageInterface
import StoreValues

/// An enum with raw values that a property can have: `enum Status: String, PersistableEnum { case active, away }`.
///
/// Its raw value is what is stored. Opening a file in whose objects there is a case that the enum no longer has is refused. Where
/// another program writes one later, it reads as the first case, and as nil where the property is optional.
public protocol PersistableEnum: RawRepresentable, CaseIterable, Scalar, PredicateArgument where RawValue: Scalar {}

extension PersistableEnum {
  public static var _$type: ValueType { RawValue._$type }
  public static var _$cases: [DefaultValue]? { allCases.compactMap { DefaultValue($0.persistedValue) }.sorted() }
  public static var _$elementCases: [DefaultValue]? { _$cases }
  public static var _$zero: Self {
    // A collection of all cases of an enum with raw values is never empty: Swift gives no enum without cases a
    // raw type.
    allCases[allCases.startIndex]
  }
  @inlinable public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? {
    RawValue._$decode(vector, row).flatMap { Self(rawValue: $0) }
  }
  @inlinable public func _$put(_ row: RowBuffer, _ slot: Int) { rawValue._$put(row, slot) }
  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    context.set(key, ordinal, rawValue.persistedValue)
  }
  public init?(persisted value: Value) {
    guard let raw = RawValue(persisted: value) else { return nil }
    self.init(rawValue: raw)
  }
  public var persistedValue: Value { rawValue.persistedValue }
}
