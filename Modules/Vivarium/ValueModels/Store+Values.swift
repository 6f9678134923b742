import QueryModel
import StoreValues

extension Store {
  /// Adds a value. With `update: .modified` or `.all` it replaces an existing one with the same primary key.
  ///
  /// ```swift
  /// try store.write { try store.add(Reading(id: 1, celsius: 22), update: .modified) }
  /// ```
  ///
  /// Throws `.notInWrite`, `.primaryKeyExists`, `.uniqueViolation`, `.unknownType`.
  public func add<V: ValueModel>(_ value: V, update: UpdatePolicy = .error) throws(StoreError) {
    try add(value.unmanagedObject(), update: update)
  }

  /// Adds values, in order.
  public func add<S: Sequence>(
    _ values: S, update: UpdatePolicy = .error
  ) throws(StoreError) where S.Element: ValueModel {
    for value in values { try add(value, update: update) }
  }

  /// All values of a type, in insertion order. Only a description until it is read.
  public func values<V: ValueModel>(_ type: V.Type) -> ValueResults<V> { ValueResults(objects(V.Live.self)) }

  /// The value with a primary key; nil if there is none. O(log n).
  public func value<V: ValueModel, Key: Scalar>(_ type: V.Type, forPrimaryKey key: Key) -> V? {
    object(V.Live.self, forPrimaryKey: key).map { V($0) }
  }

  /// Deletes the value with a primary key; false if there is none. Throws `.notInWrite`.
  @discardableResult
  public func delete<V: ValueModel, Key: Scalar>(_ type: V.Type, forPrimaryKey key: Key) throws(StoreError) -> Bool {
    guard let object = object(V.Live.self, forPrimaryKey: key) else {
      _ = try openWrite(for: "Deleting a \(V.Live._$name)")
      return false
    }
    try delete(object)
    return true
  }

  /// Deletes all present values of the results.
  public func delete<V: ValueModel>(_ values: ValueResults<V>) throws(StoreError) { try delete(values.objects) }
}
