import QueryModel
import Values

// Static members of constrained extensions, not free generic functions: so a long condition type-checks fast.

extension Field where Root: Scalar {
  public static func == (a: Self, b: Root) -> Condition { a.compare(.equal, b.persistedValue) }
  public static func != (a: Self, b: Root) -> Condition { a.compare(.notEqual, b.persistedValue) }
  public static func == (a: Self, b: Self) -> Condition { a.compare(.equal, b.expression) }
  public static func != (a: Self, b: Self) -> Condition { a.compare(.notEqual, b.expression) }

  /// Whether the value is one of these.
  public func `in`(_ values: some Sequence<Root>) -> Condition {
    compare(.in, .constants(values.map(\.persistedValue)))
  }
}

extension Field where Root: Scalar & Comparable {
  public static func < (a: Self, b: Root) -> Condition { a.compare(.less, b.persistedValue) }
  public static func <= (a: Self, b: Root) -> Condition { a.compare(.lessOrEqual, b.persistedValue) }
  public static func > (a: Self, b: Root) -> Condition { a.compare(.greater, b.persistedValue) }
  public static func >= (a: Self, b: Root) -> Condition { a.compare(.greaterOrEqual, b.persistedValue) }
  public static func < (a: Self, b: Self) -> Condition { a.compare(.less, b.expression) }
  public static func <= (a: Self, b: Self) -> Condition { a.compare(.lessOrEqual, b.expression) }
  public static func > (a: Self, b: Self) -> Condition { a.compare(.greater, b.expression) }
  public static func >= (a: Self, b: Self) -> Condition { a.compare(.greaterOrEqual, b.expression) }

  /// Whether the value lies in the range, bounds included.
  public func between(_ range: ClosedRange<Root>) -> Condition {
    compare(.between, .constants([range.lowerBound.persistedValue, range.upperBound.persistedValue]))
  }
  public func contains(in range: ClosedRange<Root>) -> Condition { between(range) }
}

extension Field where Root == String {
  public func contains(_ text: String) -> Condition { compare(.contains, .string(text)) }
  public func starts(with text: String) -> Condition { compare(.beginsWith, .string(text)) }
  public func ends(with text: String) -> Condition { compare(.endsWith, .string(text)) }
}

/// An optional, for constraints that name what it wraps.
public protocol OptionalProperty {
  associatedtype Wrapped
}

extension Optional: OptionalProperty {}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar {
  public static func == (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.equal, b?.persistedValue ?? .null) }
  /// True for nil too, unless it is compared with nil.
  public static func != (a: Self, b: Root.Wrapped?) -> Condition { a.compare(.notEqual, b?.persistedValue ?? .null) }

  public func `in`(_ values: some Sequence<Root.Wrapped>) -> Condition {
    compare(.in, .constants(values.map(\.persistedValue)))
  }
}

extension Field where Root: OptionalProperty, Root.Wrapped: Scalar & Comparable {
  public static func < (a: Self, b: Root.Wrapped) -> Condition { a.compare(.less, b.persistedValue) }
  public static func <= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.lessOrEqual, b.persistedValue) }
  public static func > (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greater, b.persistedValue) }
  public static func >= (a: Self, b: Root.Wrapped) -> Condition { a.compare(.greaterOrEqual, b.persistedValue) }

  public func between(_ range: ClosedRange<Root.Wrapped>) -> Condition {
    compare(.between, .constants([range.lowerBound.persistedValue, range.upperBound.persistedValue]))
  }
}

extension Field where Root == String? {
  public func contains(_ text: String) -> Condition { compare(.contains, .string(text)) }
  public func starts(with text: String) -> Condition { compare(.beginsWith, .string(text)) }
  public func ends(with text: String) -> Condition { compare(.endsWith, .string(text)) }
}

extension Field where Root: OptionalProperty, Root.Wrapped: Model {
  /// Whether the link points to the object; nil: whether it points nowhere. No object links to an unmanaged one.
  public static func == (a: Self, b: Root.Wrapped?) -> Condition {
    a.compare(.equal, b.map { .link(.init($0._$key)) } ?? .null)
  }
  public static func != (a: Self, b: Root.Wrapped?) -> Condition {
    a.compare(.notEqual, b.map { .link(.init($0._$key)) } ?? .null)
  }
}
