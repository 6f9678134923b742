import QueryModel
import StoreValues

/// A property in a `where` closure, or an expression over some; with `Root == Bool` a whole condition. Building one reads nothing.
///
/// Docs/Queries.md shows each closure form beside its text form.
@dynamicMemberLookup
public struct Field<Root>: Sendable {
  @usableFromInline let body: FieldBody

  @inlinable init(_ body: FieldBody) { self.body = body }
  init(_ node: PredicateNode) where Root == Bool { body = .predicate(node) }
}

/// The result of a `where` closure.
public typealias Condition = Field<Bool>

extension PredicateNode {
  /// The condition that a `where` closure makes.
  package init<T: Model>(_ condition: (Field<T>) -> Condition) { self = condition(Field(.path([]))).body.node }
}

extension Field where Root == Bool {
  /// Both hold.
  @inlinable public static func && (a: Self, b: Self) -> Self { Self(a.body.and(b.body)) }
  /// At least one holds.
  @inlinable public static func || (a: Self, b: Self) -> Self { Self(a.body.or(b.body)) }
  /// Holds if the condition does not.
  @inlinable public static prefix func ! (a: Self) -> Self { Self(a.body.negated) }
}

extension Field where Root: Model {
  /// A property. For a path that is not a property (computed, `@Transient`) the query fails and names it in `error`.
  @inlinable public subscript<V>(dynamicMember path: KeyPath<Root, V>) -> Field<V> {
    Field<V>(body.appending(Root.fieldPath(of: path)))
  }
}

extension Field {
  /// A property behind a to-one link: `$0.best.name`. nil if the link is nil.
  @inlinable
  public subscript<Target: Model, V>(dynamicMember path: KeyPath<Target, V>) -> Field<V?> where Root == Target? {
    Field<V?>(body.appending(Target.fieldPath(of: path)))
  }

  /// An optional property behind a to-one link: nil if the link or the property is nil.
  @inlinable
  public subscript<Target: Model, V>(dynamicMember path: KeyPath<Target, V?>) -> Field<V?> where Root == Target? {
    Field<V?>(body.appending(Target.fieldPath(of: path)))
  }

  /// A collection behind a to-one link: `$0.best.owners`. Empty if the link is nil.
  @inlinable
  public subscript<Target: Model, V: CollectionProperty>(dynamicMember path: KeyPath<Target, V>) -> Field<V> where Root == Target? {
    Field<V>(body.appending(Target.fieldPath(of: path)))
  }
}

// Inlined so that they are specialized: looking up the type metadata would double the cost.

extension Field {
  @inlinable func compare(_ comparator: ComparisonOperator, _ value: Value) -> Condition {
    Condition(body.compared(comparator, value))
  }

  @inlinable func compare(_ comparator: ComparisonOperator, _ object: ObjectLiteral) -> Condition {
    Condition(body.compared(comparator, object))
  }

  @inlinable func compare(_ comparator: ComparisonOperator, _ values: [Value]) -> Condition {
    Condition(body.compared(comparator, values))
  }

  @inlinable func compare<V: Scalar>(_ comparator: ComparisonOperator, to value: V) -> Condition {
    Condition(body.compared(comparator, value.persistedValue, of: value._$origin))
  }

  /// nil is null.
  @inlinable func compare<V: Scalar>(_ comparator: ComparisonOperator, toOptional value: V?) -> Condition {
    value.map { compare(comparator, to: $0) } ?? compare(comparator, .null)
  }

  @inlinable func compare<V: Scalar>(_ comparator: ComparisonOperator, toAll values: [V]) -> Condition {
    guard values.contains(where: { $0._$origin != nil }) else { return Condition(body.compared(comparator, values.map(\.persistedValue))) }
    return Condition(body.compared(comparator, linking: values.map { ($0.persistedValue, $0._$origin) }))
  }

  /// nil is null.
  @inlinable func compare<V: Scalar>(_ comparator: ComparisonOperator, toAllOptional values: [V?]) -> Condition {
    guard values.contains(where: { $0?._$origin != nil }) else {
      return Condition(body.compared(comparator, values.map { $0?.persistedValue ?? .null }))
    }
    return Condition(body.compared(comparator, linking: values.map { ($0?.persistedValue ?? .null, $0?._$origin) }))
  }

  @inlinable func compare<Other>(_ comparator: ComparisonOperator, _ other: Field<Other>) -> Condition {
    Condition(body.compared(comparator, other.body))
  }
}
