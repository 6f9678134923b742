import QueryModel
import StoreValues

extension Store {
  /// Keeps a value. With `update: .modified` or `.all` it takes the place of the one that has its primary key.
  ///
  /// ```swift
  /// try store.write { try store.add(Reading(id: 1, celsius: 22), update: .modified) }
  /// ```
  ///
  /// `.notInWrite`, `.primaryKeyExists`, `.uniqueViolation`, `.unknownType`.
  public func add<V: ValueModel>(_ value: V, update: UpdatePolicy = .error) throws(StoreError) {
    try add(value.unmanagedObject(), update: update)
  }

  /// Keeps values, in their order.
  public func add<S: Sequence>(
    _ values: S, update: UpdatePolicy = .error
  ) throws(StoreError) where S.Element: ValueModel {
    for value in values { try add(value, update: update) }
  }

  /// Every value of a type, in the order of insertion. A description until it is read.
  public func values<V: ValueModel>(_ type: V.Type) -> ValueResults<V> { ValueResults(objects(V.Live.self)) }

  /// The value with a primary key; nil when there is none. O(log n).
  public func value<V: ValueModel, Key: Scalar>(_ type: V.Type, forPrimaryKey key: Key) -> V? {
    object(V.Live.self, forPrimaryKey: key).map { V($0) }
  }

  /// Takes the value with a primary key out; false when there is none. `.notInWrite`.
  @discardableResult
  public func delete<V: ValueModel, Key: Scalar>(_ type: V.Type, forPrimaryKey key: Key) throws(StoreError) -> Bool {
    guard let object = object(V.Live.self, forPrimaryKey: key) else {
      _ = try openWrite(for: "Deleting a \(V.Live._$name)")
      return false
    }
    try delete(object)
    return true
  }

  /// Takes values out, all that the results have now.
  public func delete<V: ValueModel>(_ values: ValueResults<V>) throws(StoreError) { try delete(values.objects) }
}
