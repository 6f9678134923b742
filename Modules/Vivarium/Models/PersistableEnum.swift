import StorageInterface
import StoreValues

/// An enum with raw values that can be a property's type: `enum Status: String, PersistableEnum { case active, away }`.
///
/// Its raw value is stored. Opening a file fails if its objects have a case that the enum no longer has. If another program writes
/// one later, it reads as the first case, or as nil if the property is optional.
public protocol PersistableEnum: RawRepresentable, CaseIterable, Scalar, PredicateArgument where RawValue: Scalar {}

extension PersistableEnum {
  public static var _$type: ValueType { RawValue._$type }
  public static var _$cases: [DefaultValue]? { allCases.compactMap { DefaultValue($0.persistedValue) }.sorted() }
  public static var _$elementCases: [DefaultValue]? { _$cases }
  public static var _$zero: Self {
    // Never empty: Swift does not allow a raw type for an enum without cases.
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
