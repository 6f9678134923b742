import QueryModel
import StoreValues

// Static members of constrained extensions instead of free generic functions: long conditions type-check faster.

extension Field where Root: Scalar {
  @inlinable public static func == (a: Self, b: Root) -> Condition { a.compare(.equal, to: b) }
  /// Whether the value differs. Numbers compare by value, strings exactly, byte by byte.
  @inlinable public static func != (a: Self, b: Root) -> Condition { a.compare(.notEqual, to: b) }
  @inlinable public static func == (a: Self, b: Self) -> Condition { a.compare(.equal, b) }
  /// Whether two properties have different values.
  @inlinable public static func != (a: Self, b: Self) -> Condition { a.compare(.notEqual, b) }
  @inlinable public static func == (a: Self, b: Field<Root?>) -> Condition { a.compare(.equal, b) }
  /// Whether two properties have different values, one of which may be nil.
  @inlinable public static func != (a: Self, b: Field<Root?>) -> Condition { a.compare(.notEqual, b) }

  /// Whether the value is one of these values.
  @inlinable public func `in`(_ values: some Sequence<Root>) -> Condition {
    compare(.in, toAll: Array(values))
  }
}

extension Field where Root: Scalar & Comparable {
  /// Whether the value is below.
  @inlinable public static func < (a: Self, b: Root) -> Condition { a.compare(.less, to: b) }
  /// Whether the value is below or the same.
  @inlinable public static func <= (a: Self, b: Root) -> Condition { a.compare(.lessOrEqual, to: b) }
  /// Whether the value is above.
  @inlinable public static func > (a: Self, b: Root) -> Condition { a.compare(.greater, to: b) }
  /// Whether the value is above or the same.
  @inlinable public static func >= (a: Self, b: Root) -> Condition { a.compare(.greaterOrEqual, to: b) }
  /// Whether the value is below another property's.
  @inlinable public static func < (a: Self, b: Self) -> Condition { a.compare(.less, b) }
  /// Whether the value is below another property's, or the same.
  @inlinable public static func <= (a: Self, b: Self) -> Condition { a.compare(.lessOrEqual, b) }
  /// Whether the value is above another property's.
  @inlinable public static func > (a: Self, b: Self) -> Condition { a.compare(.greater, b) }
  /// Whether the value is above another property's, or the same.
  @inlinable public static func >= (a: Self, b: Self) -> Condition { a.compare(.greaterOrEqual, b) }
  /// Whether the value is below another property's, which may be nil.
  @inlinable public static func < (a: Self, b: Field<Root?>) -> Condition { a.compare(.less, b) }
  /// Whether the value is below another property's, which may be nil, or the same.
  @inlinable public static func <= (a: Self, b: Field<Root?>) -> Condition { a.compare(.lessOrEqual, b) }
  /// Whether the value is above another property's, which may be nil.
  @inlinable public static func > (a: Self, b: Field<Root?>) -> Condition { a.compare(.greater, b) }
  /// Whether the value is above another property's, which may be nil, or the same.
  @inlinable public static func >= (a: Self, b: Field<Root?>) -> Condition { a.compare(.greaterOrEqual, b) }

  /// Whether the value lies in the range, bounds included.
  @inlinable public func between(_ range: ClosedRange<Root>) -> Condition {
    compare(.between, [range.lowerBound.persistedValue, range.upperBound.persistedValue])
  }
  /// As `between`.
  @inlinable public func contains(in range: ClosedRange<Root>) -> Condition { between(range) }
  /// As `between`.
  @inlinable public func `in`(_ range: ClosedRange<Root>) -> Condition { between(range) }
  /// Whether the value lies in the range, its end excluded.
  @inlinable public func `in`(_ range: Range<Root>) -> Condition { self >= range.lowerBound && self < range.upperBound }
}

// The constant may stand on the left: `18 <= $0.age`.

extension Field where Root: Scalar & Comparable {
  /// Whether the value is above.
  @inlinable public static func < (a: Root, b: Self) -> Condition { b > a }
  /// Whether the value is above or the same.
  @inlinable public static func <= (a: Root, b: Self) -> Condition { b >= a }
  /// Whether the value is below.
  @inlinable public static func > (a: Root, b: Self) -> Condition { b < a }
  /// Whether the value is below or the same.
  @inlinable public static func >= (a: Root, b: Self) -> Condition { b <= a }
}
