import QueryModel
import StoreValues

extension Field where Root: OptionalProperty, Root.Wrapped: Model {
  /// Whether the link points to the object; with nil, whether the link is null. No link points to an unmanaged object.
  @inlinable public static func == (a: Self, b: Root.Wrapped?) -> Condition {
    b.map { a.compare(.equal, $0.literal) } ?? a.compare(.equal, .null)
  }
  /// Whether the link is null or points to another object; with nil, whether the link is not null.
  @inlinable public static func != (a: Self, b: Root.Wrapped?) -> Condition {
    b.map { a.compare(.notEqual, $0.literal) } ?? a.compare(.notEqual, .null)
  }
  @inlinable public static func == (a: Self, b: Self) -> Condition { a.compare(.equal, b) }
  /// Whether two links differ; true if only one is null.
  @inlinable public static func != (a: Self, b: Self) -> Condition { a.compare(.notEqual, b) }

  /// Whether the link points to one of the objects; `objects` is read when the condition is made.
  @inlinable public func `in`(_ objects: some Sequence<Root.Wrapped>) -> Condition {
    Condition(body.compared(.in, oneOf: objects.map(\.literal)))
  }
}

extension Field where Root: Model {
  /// Whether it is the object: `$0 == ann`, `$0.dogs.any == rex`.
  @inlinable public static func == (a: Self, b: Root) -> Condition { a.compare(.equal, b.literal) }
  /// Whether it is another object.
  @inlinable public static func != (a: Self, b: Root) -> Condition { a.compare(.notEqual, b.literal) }
  @inlinable public static func == (a: Self, b: Self) -> Condition { a.compare(.equal, b) }
  /// Whether two are different objects.
  @inlinable public static func != (a: Self, b: Self) -> Condition { a.compare(.notEqual, b) }
  @inlinable public static func == (a: Self, b: Field<Root?>) -> Condition { a.compare(.equal, b) }
  /// Whether a link is null or points to another object.
  @inlinable public static func != (a: Self, b: Field<Root?>) -> Condition { a.compare(.notEqual, b) }

  /// Whether it is one of the objects; `objects` is read when the condition is made.
  @inlinable public func `in`(_ objects: some Sequence<Root>) -> Condition {
    Condition(body.compared(.in, oneOf: objects.map(\.literal)))
  }
}
