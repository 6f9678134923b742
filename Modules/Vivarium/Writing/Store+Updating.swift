import ChangeTracker
import StorageInterface
import StoreValues

extension Store {
  /// Sets a property of all objects of results, as they are when the call begins. Returns how many had another value. Creates no
  /// objects.
  ///
  /// ```swift
  /// try store.write { try store.update(inbox.where { $0.isRead == false }, set: \.isRead, to: true) }
  /// ```
  ///
  /// Observers are notified as for setters, those of single properties once, at the end. On an error, none of the changes remain.
  /// Throws `.notInWrite`, `.uniqueViolation`, `.primaryKeyIsFixed`, `.wrongStore`; `.unknownProperty` for a path that is not a
  /// stored value, `.typeMismatch` for a derived property; and the error of the results.
  @discardableResult
  public func update<T: Model, V: Scalar>(
    _ results: Results<T>, set path: KeyPath<T, V>, to value: V
  ) throws(StoreError) -> Int {
    try update(results, path, to: value._$elementValue(self), value)
  }

  /// Sets an optional property of all objects of results.
  @discardableResult
  public func update<T: Model, V: Scalar>(
    _ results: Results<T>, set path: KeyPath<T, V?>, to value: V?
  ) throws(StoreError) -> Int {
    try update(results, path, to: value.map { value throws(StoreError) in try value._$elementValue(self) } ?? .null, value)
  }

  private func update<T: Model>(
    _ results: Results<T>, _ path: PartialKeyPath<T>, to value: Value, _ scalar: (any Scalar)?
  ) throws(StoreError) -> Int {
    let write = try openWrite(for: "Updating \(T._$name) objects")
    guard results.store === self else {
      throw .wrongStore("The results of \(T._$name)")
    }
    if let error = results.error { throw error }
    let context = context(T.self)
    guard let ordinal = T.ordinal(of: path) else { throw .notAProperty(path, T._$name) }
    let property = context.properties[ordinal]
    guard property.schema.isScalar, !property.schema.isRelationship else { throw .notAProperty(path, T._$name) }
    if ordinal == context.primaryKey { throw .primaryKeyIsFixed(type: T._$name, property: property.schema.name) }
    if property.schema.derivation != nil { throw .derivedIsFixed(type: T._$name, property: property.schema.name) }
    let keys = results.state.keys().array
    var count = 0
    let content = property.schema.valueType == .mixed ? scalar as? any PersistableStruct : nil
    let place = "\(T._$name).\(property.schema.name)"
    var values: [Value] = []
    if let content {
      for key in keys {
        let stored = try storing { () throws(StorageError) in try write.transaction.value(property.column, ObjectKey(key)) }
        values.append(try content.merged(into: stored, at: place))
      }
    }
    func setAll() throws(StorageError) {
      for (at, key) in keys.enumerated() {
        if try write.set(property.column, ObjectKey(key), content == nil ? value : values[at]) { count += 1 }
      }
    }
    var touched: Set<ObjectPlace>?
    try undoneOnFailure(write) { () throws(StoreError) in
      do throws(StorageError) {
        if observing.hasProperties { touched = try write.touching(setAll) } else { try setAll() }
      } catch {
        throw StoreError(error, in: write.transaction.catalog, type: T._$name, value: value)
      }
    }
    if count > 0 { didChangeEverything(touched) }
    return count
  }
}
