import QueryModel
import StoreValues

// Static members of constrained extensions, not free generic functions: so a long condition type-checks fast.

extension Field where Root: Scalar {
  @inlinable public static func == (a: Self, b: Root) -> Condition { a.compare(.equal, b.persistedValue) }
  /// Whether the value is another one. Numbers compare by value, texts exactly, byte by byte.
  @inlinable public static func != (a: Self, b: Root) -> Condition { a.compare(.notEqual, b.persistedValue) }
  @inlinable public static func == (a: Self, b: Self) -> Condition { a.compare(.equal, b) }
  /// Whether two properties have different values.
  @inlinable public static func != (a: Self, b: Self) -> Condition { a.compare(.notEqual, b) }

  /// Whether the value is one of these.
  @inlinable public func `in`(_ values: some Sequence<Root>) -> Condition {
    compare(.in, values.map(\.persistedValue))
  }
}

extension Field where Root: Scalar & Comparable {
  /// Whether the value is below.
  @inlinable public static func < (a: Self, b: Root) -> Condition { a.compare(.less, b.persistedValue) }
  /// Whether the value is below or the same.
  @inlinable public static func <= (a: Self, b: Root) -> Condition { a.compare(.lessOrEqual, b.persistedValue) }
  /// Whether the value is above.
  @inlinable public static func > (a: Self, b: Root) -> Condition { a.compare(.greater, b.persistedValue) }
  /// Whether the value is above or the same.
  @inlinable public static func >= (a: Self, b: Root) -> Condition { a.compare(.greaterOrEqual, b.persistedValue) }
  /// Whether the value is below another property's.
  @inlinable public static func < (a: Self, b: Self) -> Condition { a.compare(.less, b) }
  /// Whether the value is below another property's, or the same.
  @inlinable public static func <= (a: Self, b: Self) -> Condition { a.compare(.lessOrEqual, b) }
  /// Whether the value is above another property's.
  @inlinable public static func > (a: Self, b: Self) -> Condition { a.compare(.greater, b) }
  /// Whether the value is above another property's, or the same.
  @inlinable public static func >= (a: Self, b: Self) -> Condition { a.compare(.greaterOrEqual, b) }

  /// Whether the value lies in the range, bounds included.
  @inlinable public func between(_ range: ClosedRange<Root>) -> Condition {
    compare(.between, [range.lowerBound.persistedValue, range.upperBound.persistedValue])
  }
  /// As `between`.
  @inlinable public func contains(in range: ClosedRange<Root>) -> Condition { between(range) }
}

extension Field where Root == String {
  /// Whether the text is in it, case and diacritics counting.
  @inlinable public func contains(_ text: String) -> Condition { compare(.contains, .string(text)) }
  /// Whether it begins with the text, case and diacritics counting.
  @inlinable public func starts(with text: String) -> Condition { compare(.beginsWith, .string(text)) }
  /// Whether it ends with the text, case and diacritics counting.
  @inlinable public func ends(with text: String) -> Condition { compare(.endsWith, .string(text)) }
  /// Whether the words are in it, as a `TextQuery` writes them: `$0.body.matches(text: "live dat* -server")`. A text that
  /// cannot be looked for makes the query fail with what is wrong in `error`.
  @inlinable public func matches(text words: String) -> Condition { compare(.text, .string(words)) }
}

/// An optional, for constraints that name what it wraps.
public protocol OptionalProperty {
  /// What there is when it is not nil.
  associatedtype Wrapped
}

extension Optional: OptionalProperty {}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar {
  @inlinable public static func == (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.equal, b?.persistedValue ?? .null) }
  /// True for nil too, unless it is compared with nil.
  @inlinable public static func != (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.notEqual, b?.persistedValue ?? .null) }

  /// Whether the value is one of these; nil is none of them.
  @inlinable public func `in`(_ values: some Sequence<Root.Wrapped>) -> Condition {
    compare(.in, values.map(\.persistedValue))
  }
}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar & Comparable {
  /// Whether the value is below. What null is below says "Null" in Docs/Predicates.md.
  @inlinable public static func < (a: Self, b: Root.Wrapped) -> Condition { a.compare(.less, b.persistedValue) }
  /// Whether the value is below or the same; null as with `<`.
  @inlinable public static func <= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.lessOrEqual, b.persistedValue) }
  /// Whether the value is above; null is above nothing.
  @inlinable public static func > (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greater, b.persistedValue) }
  /// Whether the value is above or the same; null is above nothing.
  @inlinable public static func >= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greaterOrEqual, b.persistedValue) }

  /// Whether the value lies in the range, bounds included; null does not.
  @inlinable public func between(_ range: ClosedRange<Root.Wrapped>) -> Condition {
    compare(.between, [range.lowerBound.persistedValue, range.upperBound.persistedValue])
  }
}

extension Field where Root == String? {
  /// Whether the text is in it, case and diacritics counting; null has none.
  @inlinable public func contains(_ text: String) -> Condition { compare(.contains, .string(text)) }
  /// Whether it begins with the text, case and diacritics counting; null does not.
  @inlinable public func starts(with text: String) -> Condition { compare(.beginsWith, .string(text)) }
  /// Whether it ends with the text, case and diacritics counting; null does not.
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
  /// Whether the link points elsewhere, or nowhere; nil: whether it points somewhere.
  @inlinable public static func != (a: Self, b: Root.Wrapped?) -> Condition {
    b.map { a.compare(.notEqual, $0.literal) } ?? a.compare(.notEqual, .null)
  }
}
