import QueryModel
import StoreValues

/// An optional, for constraints on its wrapped type.
public protocol OptionalProperty {
  /// The wrapped type.
  associatedtype Wrapped
}

extension Optional: OptionalProperty {}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar {
  @inlinable public static func == (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.equal, toOptional: b) }
  /// Whether the value differs. True for nil too, unless it is compared with nil.
  @inlinable public static func != (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.notEqual, toOptional: b) }
  @inlinable public static func == (a: Self, b: Self) -> Condition { a.compare(.equal, b) }
  /// Whether two properties have different values, or only one of them is nil.
  @inlinable public static func != (a: Self, b: Self) -> Condition { a.compare(.notEqual, b) }
  @inlinable public static func == (a: Self, b: Field<Root.Wrapped>) -> Condition { a.compare(.equal, b) }
  /// Whether the value differs from another property's; true for nil.
  @inlinable public static func != (a: Self, b: Field<Root.Wrapped>) -> Condition { a.compare(.notEqual, b) }

  /// Whether the value is one of these values; false for nil.
  @inlinable public func `in`(_ values: some Sequence<Root.Wrapped>) -> Condition {
    compare(.in, toAll: Array(values))
  }

  /// Whether the value is one of these values, which may include nil.
  @inlinable public func `in`(_ values: some Sequence<Root.Wrapped?>) -> Condition {
    compare(.in, toAllOptional: Array(values))
  }
}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar & Comparable {
  /// Whether the value is below. For null see "Null" in Docs/Predicates.md.
  @inlinable public static func < (a: Self, b: Root.Wrapped) -> Condition { a.compare(.less, to: b) }
  /// Whether the value is below or the same; null as with `<`.
  @inlinable public static func <= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.lessOrEqual, to: b) }
  /// Whether the value is above; false for null.
  @inlinable public static func > (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greater, to: b) }
  /// Whether the value is above or the same; false for null.
  @inlinable public static func >= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greaterOrEqual, to: b) }
  /// Whether the value is below another property's.
  @inlinable public static func < (a: Self, b: Self) -> Condition { a.compare(.less, b) }
  /// Whether the value is below another property's, or the same.
  @inlinable public static func <= (a: Self, b: Self) -> Condition { a.compare(.lessOrEqual, b) }
  /// Whether the value is above another property's.
  @inlinable public static func > (a: Self, b: Self) -> Condition { a.compare(.greater, b) }
  /// Whether the value is above another property's, or the same.
  @inlinable public static func >= (a: Self, b: Self) -> Condition { a.compare(.greaterOrEqual, b) }
  /// Whether the value is below another property's, which is never nil.
  @inlinable public static func < (a: Self, b: Field<Root.Wrapped>) -> Condition { a.compare(.less, b) }
  /// Whether the value is below another property's, which is never nil, or the same.
  @inlinable public static func <= (a: Self, b: Field<Root.Wrapped>) -> Condition { a.compare(.lessOrEqual, b) }
  /// Whether the value is above another property's, which is never nil.
  @inlinable public static func > (a: Self, b: Field<Root.Wrapped>) -> Condition { a.compare(.greater, b) }
  /// Whether the value is above another property's, which is never nil, or the same.
  @inlinable public static func >= (a: Self, b: Field<Root.Wrapped>) -> Condition { a.compare(.greaterOrEqual, b) }

  /// Whether the value lies in the range, bounds included; false for null.
  @inlinable public func between(_ range: ClosedRange<Root.Wrapped>) -> Condition {
    compare(.between, [range.lowerBound.persistedValue, range.upperBound.persistedValue])
  }
  /// As `between`.
  @inlinable public func `in`(_ range: ClosedRange<Root.Wrapped>) -> Condition { between(range) }
  /// Whether the value lies in the range, its end excluded; false for null.
  @inlinable public func `in`(_ range: Range<Root.Wrapped>) -> Condition {
    self >= range.lowerBound && compare(.less, range.upperBound.persistedValue)
  }
}
