import QueryModel
import StoreValues

/// A property that has many values, or leads to many objects: a list, a set, a map, or an inverse.
public protocol CollectionProperty {
  /// The type of its elements; for a map, of its values.
  associatedtype Member
}

/// A collection whose elements have positions: a list, or an inverse, ordered by when its objects were added.
public protocol OrderedProperty: CollectionProperty {}

/// A collection whose elements have keys.
public protocol MapProperty: CollectionProperty {}

extension LiveList: OrderedProperty { public typealias Member = Element }
extension LinkingObjects: OrderedProperty { public typealias Member = Element }
extension LiveSet: CollectionProperty { public typealias Member = Element }
extension LiveMap: MapProperty { public typealias Member = Value }

extension Field where Root: CollectionProperty {
  /// The number of elements, duplicates included.
  @inlinable public var count: Field<Int> { Field<Int>(body.appending(["@count"])) }
  /// Whether the collection is empty.
  @inlinable public var isEmpty: Condition { count == 0 }

  /// Holds if it holds for at least one element: `$0.scores.any > 3`, `$0.dogs.any.name == "Rex"`. The default for a property
  /// behind a collection.
  @inlinable public var any: Field<Root.Member> { Field<Root.Member>(body.quantified(.any)) }
  /// Holds if it holds for every element: `$0.dogs.all.age > 3`. True for an empty collection.
  @inlinable public var all: Field<Root.Member> { Field<Root.Member>(body.quantified(.all)) }
  /// Holds if it holds for no element: `$0.dogs.none.age > 3`. True for an empty collection.
  @inlinable public var none: Field<Root.Member> { Field<Root.Member>(body.quantified(.none)) }
}

extension Field where Root: CollectionProperty, Root.Member: Model {
  /// A property of the elements: `$0.dogs.name == "Rex"` holds if one of them has this name. Different elements may satisfy two
  /// such conditions; `contains { }` of a list tests both on the same element.
  @inlinable public subscript<V>(dynamicMember path: KeyPath<Root.Member, V>) -> Field<V> {
    Field<V>(body.appending(Root.Member.fieldPath(of: path)))
  }

  /// Whether the object is among the elements.
  @inlinable public func contains(_ object: Root.Member) -> Condition { any == object }

  /// Whether one of the objects is among the elements.
  @inlinable public func contains(anyOf objects: some Sequence<Root.Member>) -> Condition { any.in(objects) }

  /// The sum of a property of the elements; 0 over nothing. Ignores null.
  @inlinable public func sum<V: NumberProperty>(of path: KeyPath<Root.Member, V>) -> Field<V.Number> { aggregate("@sum", path) }
  /// The mean of a property of the elements; null over nothing.
  @inlinable public func average<V: NumberProperty>(of path: KeyPath<Root.Member, V>) -> Field<Double?> { aggregate("@avg", path) }
  /// The least value of a property of the elements, numbers or dates; null over nothing.
  @inlinable public func min<V: Scalar & Comparable>(of path: KeyPath<Root.Member, V>) -> Field<V?> { aggregate("@min", path) }
  /// The least value of an optional property.
  @inlinable public func min<V: Scalar & Comparable>(of path: KeyPath<Root.Member, V?>) -> Field<V?> { aggregate("@min", path) }
  /// The greatest value of a property of the elements, numbers or dates; null over nothing.
  @inlinable public func max<V: Scalar & Comparable>(of path: KeyPath<Root.Member, V>) -> Field<V?> { aggregate("@max", path) }
  /// The greatest value of an optional property.
  @inlinable public func max<V: Scalar & Comparable>(of path: KeyPath<Root.Member, V?>) -> Field<V?> { aggregate("@max", path) }

  @inlinable func aggregate<V, R>(_ name: String, _ path: KeyPath<Root.Member, V>) -> Field<R> {
    Field<R>(body.appending([name] + Root.Member.fieldPath(of: path)))
  }
}

// SUBQUERY in the text form, for lists and inverses; for sets and maps use `any`, `all` and `none`.

extension Field where Root: OrderedProperty, Root.Member: Model {
  /// Whether one element passes the condition: `$0.dogs.contains { $0.name == "Rex" && $0.age > 3 }`.
  @inlinable public func contains(_ condition: (Field<Root.Member>) -> Condition) -> Condition { count(condition) > 0 }

  /// Whether every element passes the condition; true for an empty collection.
  @inlinable public func allSatisfy(_ condition: (Field<Root.Member>) -> Condition) -> Condition { count { !condition($0) } == 0 }

  /// How many elements pass the condition: `$0.dogs.count { $0.age > 3 } >= 2`.
  @inlinable public func count(_ condition: (Field<Root.Member>) -> Condition) -> Field<Int> {
    let variable = FieldBody.newVariable()
    return Field<Int>(body.counting(variable, condition(Field<Root.Member>(.path([variable]))).body))
  }
}

extension Field where Root: CollectionProperty, Root.Member: Scalar {
  /// Whether the value is among the elements.
  @inlinable public func contains(_ value: Root.Member) -> Condition { any == value }
  /// Whether one of the values is among the elements.
  @inlinable public func contains(anyOf values: some Sequence<Root.Member>) -> Condition { any.in(values) }

  /// Whether the elements equal these one by one: a set's in the order of values, a map's in the order of its keys.
  @inlinable public static func == (a: Self, b: [Root.Member]) -> Condition { a.compare(.equal, toAll: b) }
}

extension Field where Root: CollectionProperty, Root.Member: Scalar & NumberProperty {
  /// The sum of the elements, 0 over nothing.
  @inlinable public func sum() -> Field<Root.Member> { Field<Root.Member>(body.appending(["@sum"])) }
  /// The mean of the elements; null over nothing.
  @inlinable public func average() -> Field<Double?> { Field<Double?>(body.appending(["@avg"])) }
}

extension Field where Root: CollectionProperty, Root.Member: Scalar & Comparable {
  /// The least of the elements, numbers or dates; null over nothing.
  @inlinable public func min() -> Field<Root.Member?> { Field<Root.Member?>(body.appending(["@min"])) }
  /// The greatest of the elements, numbers or dates; null over nothing.
  @inlinable public func max() -> Field<Root.Member?> { Field<Root.Member?>(body.appending(["@max"])) }
}

extension Field where Root: OrderedProperty {
  /// The element at a position; null beyond the end. `$0.dogs[0].name == "Rex"`.
  @inlinable public subscript(position: Int) -> Field<Root.Member?> { Field<Root.Member?>(body.appending(["[\(position)]"])) }
  /// The first element; null if there is none.
  @inlinable public var first: Field<Root.Member?> { Field<Root.Member?>(body.appending(["[first]"])) }
  /// The last element; null if there is none.
  @inlinable public var last: Field<Root.Member?> { Field<Root.Member?>(body.appending(["[last]"])) }
}

extension Field where Root: MapProperty {
  /// The value of a key; null if the key is absent. `$0.phones["home"] == "123"`.
  @inlinable public subscript(key: String) -> Field<Root.Member?> { Field<Root.Member?>(body.appending(["['\(key)']"])) }
  /// The keys: `$0.phones.keys.contains("home")`, `$0.phones.keys.any.starts(with: "h")`.
  @inlinable public var keys: Field<LiveSet<String>> { Field<LiveSet<String>>(body.appending(["@keys"])) }
}
