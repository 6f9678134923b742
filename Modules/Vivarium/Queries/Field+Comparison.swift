import QueryModel
import Values

// Static members of constrained extensions, not free generic functions: so a long condition type-checks fast.

extension Field where Root: Scalar {
  @inlinable public static func == (a: Self, b: Root) -> Condition { a.compare(.equal, b.persistedValue) }
  @inlinable public static func != (a: Self, b: Root) -> Condition { a.compare(.notEqual, b.persistedValue) }
  @inlinable public static func == (a: Self, b: Self) -> Condition { a.compare(.equal, b) }
  @inlinable public static func != (a: Self, b: Self) -> Condition { a.compare(.notEqual, b) }

  /// Whether the value is one of these.
  @inlinable public func `in`(_ values: some Sequence<Root>) -> Condition {
    compare(.in, values.map(\.persistedValue))
  }
}

extension Field where Root: Scalar & Comparable {
  @inlinable public static func < (a: Self, b: Root) -> Condition { a.compare(.less, b.persistedValue) }
  @inlinable public static func <= (a: Self, b: Root) -> Condition { a.compare(.lessOrEqual, b.persistedValue) }
  @inlinable public static func > (a: Self, b: Root) -> Condition { a.compare(.greater, b.persistedValue) }
  @inlinable public static func >= (a: Self, b: Root) -> Condition { a.compare(.greaterOrEqual, b.persistedValue) }
  @inlinable public static func < (a: Self, b: Self) -> Condition { a.compare(.less, b) }
  @inlinable public static func <= (a: Self, b: Self) -> Condition { a.compare(.lessOrEqual, b) }
  @inlinable public static func > (a: Self, b: Self) -> Condition { a.compare(.greater, b) }
  @inlinable public static func >= (a: Self, b: Self) -> Condition { a.compare(.greaterOrEqual, b) }

  /// Whether the value lies in the range, bounds included.
  @inlinable public func between(_ range: ClosedRange<Root>) -> Condition {
    compare(.between, [range.lowerBound.persistedValue, range.upperBound.persistedValue])
  }
  @inlinable public func contains(in range: ClosedRange<Root>) -> Condition { between(range) }
}

extension Field where Root == String {
  @inlinable public func contains(_ text: String) -> Condition { compare(.contains, .string(text)) }
  @inlinable public func starts(with text: String) -> Condition { compare(.beginsWith, .string(text)) }
  @inlinable public func ends(with text: String) -> Condition { compare(.endsWith, .string(text)) }
  /// Whether the words are in it, as a `TextQuery` writes them: `$0.body.matches(text: "live dat* -server")`. A text that
  /// cannot be looked for makes the query fail with what is wrong in `error`.
  @inlinable public func matches(text words: String) -> Condition { compare(.text, .string(words)) }
}

/// An optional, for constraints that name what it wraps.
public protocol OptionalProperty {
  associatedtype Wrapped
}

extension Optional: OptionalProperty {}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar {
  @inlinable public static func == (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.equal, b?.persistedValue ?? .null) }
  /// True for nil too, unless it is compared with nil.
  @inlinable public static func != (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.notEqual, b?.persistedValue ?? .null) }

  @inlinable public func `in`(_ values: some Sequence<Root.Wrapped>) -> Condition {
    compare(.in, values.map(\.persistedValue))
  }
}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar & Comparable {
  @inlinable public static func < (a: Self, b: Root.Wrapped) -> Condition { a.compare(.less, b.persistedValue) }
  @inlinable public static func <= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.lessOrEqual, b.persistedValue) }
  @inlinable public static func > (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greater, b.persistedValue) }
  @inlinable public static func >= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greaterOrEqual, b.persistedValue) }

  @inlinable public func between(_ range: ClosedRange<Root.Wrapped>) -> Condition {
    compare(.between, [range.lowerBound.persistedValue, range.upperBound.persistedValue])
  }
}

extension Field where Root == String? {
  @inlinable public func contains(_ text: String) -> Condition { compare(.contains, .string(text)) }
  @inlinable public func starts(with text: String) -> Condition { compare(.beginsWith, .string(text)) }
  @inlinable public func ends(with text: String) -> Condition { compare(.endsWith, .string(text)) }
  /// Whether the words are in it, as a `TextQuery` writes them: `$0.body.matches(text: "live dat* -server")`. A text that
  /// cannot be looked for makes the query fail with what is wrong in `error`.
  @inlinable public func matches(text words: String) -> Condition { compare(.text, .string(words)) }
}

extension Field where Root: OptionalProperty, Root.Wrapped: Model {
  /// Whether the link points to the object; nil: whether it points nowhere. No object links to an unmanaged one.
  @inlinable public static func == (a: Self, b: Root.Wrapped?) -> Condition {
    b.map { a.compare(.equal, $0.literal) } ?? a.compare(.equal, .null)
  }
  @inlinable public static func != (a: Self, b: Root.Wrapped?) -> Condition {
    b.map { a.compare(.notEqual, $0.literal) } ?? a.compare(.notEqual, .null)
  }
}
