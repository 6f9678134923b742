import StorageInterface
import StoreValues

// Key-value coding: access to properties by name, as Swift values.

extension Model {
  /// A property by its name: a Swift value of the property's type, an object, or a live collection; nil for null.
  ///
  /// `.unknownProperty`, `.objectDeleted`.
  public func value(forKey name: String) throws(StoreError) -> Any? {
    let ordinal = try Self.ordinal(forKey: name)
    if let context { try context.check(_$key) }
    return Value.unwrapped(self[keyPath: Self._$keyPaths[ordinal]])
  }

  /// Sets a property by its name. Accepts a value of the property's type, and values that convert to it without loss: other kinds
  /// of numbers, text for UUIDs, dates and data, dictionaries for objects, arrays for lists.
  ///
  /// `.unknownProperty`, `.typeMismatch`, `.missingValue` for a null that the property does not allow; for an object in a store
  /// also `.notInWrite`, `.objectDeleted`, `.primaryKeyIsFixed`, `.uniqueViolation`.
  public func setValue(_ value: Any?, forKey name: String) throws(StoreError) {
    let ordinal = try Self.ordinal(forKey: name)
    guard let context else { return try setUnmanaged(value, ordinal) }
    let write = try context.store.openWrite(for: "Setting '\(Self._$name).\(name)'")
    try context.check(_$key)
    if ordinal == context.primaryKey {
      if try Value(value, for: context.properties[ordinal].schema, of: Self._$name) == context.value(_$key, ordinal) { return }
      throw .primaryKeyIsFixed(type: Self._$name, property: name)
    }
    try context.store.assign(value, to: ordinal, of: _$key, context, .error, write)
  }

  /// The value at the end of a path of names: `"best.name"`, `"dogs.name"` (an array), `"dogs.@count"`, `"dogs.@sum.age"`; also
  /// `@avg`, `@min` and `@max`. nil if a link on the way is null. Aggregates except `@count` ignore nulls, and `@min` and `@max`
  /// ignore NaN. Without values `@count` and `@sum` are 0, the others nil.
  public func value(forKeyPath path: String) throws(StoreError) -> Any? {
    try KeyValuePath(path).value(from: self)
  }

  /// Sets the property at the end of a path of names over to-one links. Does nothing if a link on the way is null.
  public func setValue(_ value: Any?, forKeyPath path: String) throws(StoreError) {
    try KeyValuePath(path).set(value, from: self)
  }

  private static func ordinal(forKey name: String) throws(StoreError) -> Int {
    guard let ordinal = _$schema.properties.firstIndex(where: { $0.name == name }) else {
      throw .unknownProperty(name, of: _$name)
    }
    return ordinal
  }

  func setUnmanaged(_ value: Any?, _ ordinal: Int) throws(StoreError) {
    let path = Self._$keyPaths[ordinal] as PartialKeyPath<Self>
    let property = Self._$schema.properties[ordinal]
    guard let type = Swift.type(of: path).valueType as? any Persistable.Type else {
      throw StoreError(
        .typeMismatch, "'\(Self._$name).\(property.name)' is computed and cannot be set.",
        details: ["type": Self._$name, "property": property.name])
    }
    try setUnmanaged(value, path, type, property)
  }

  private func setUnmanaged<V: Persistable>(
    _ value: Any?, _ path: PartialKeyPath<Self>, _ type: V.Type, _ property: PropertySchema
  ) throws(StoreError) {
    guard let path = path as? ReferenceWritableKeyPath<Self, V> else { throw .typeMismatch(value, property) }
    self[keyPath: path] = try V._$loose(value, property, of: Self._$name)
  }
}

/// A collection whose elements key-value paths can traverse.
protocol KeyValueCollection {
  var untypedElements: [Any?] { get }
}

extension Results: KeyValueCollection {
  var untypedElements: [Any?] { map { $0 } }
}

extension LinkingObjects: KeyValueCollection {
  var untypedElements: [Any?] { map { $0 } }
}

extension LiveList: KeyValueCollection where Element: PersistableElement {
  var untypedElements: [Any?] { map { $0 } }
}

extension Sequence where Element: Model {
  /// The values of a property of every object; for results, lists, inverses and arrays.
  public func value(forKey name: String) throws(StoreError) -> [Any?] {
    var values: [Any?] = []
    for object in self { values.append(try object.value(forKey: name)) }
    return values
  }

  /// The values at the end of a path from every object, or an aggregate of all: `"@sum.age"`.
  public func value(forKeyPath path: String) throws(StoreError) -> Any? {
    try KeyValuePath(path).value(from: map { $0 as Any? })
  }

  /// Sets a property of every object; of results, the objects at the start of the call.
  public func setValue(_ value: Any?, forKey name: String) throws(StoreError) {
    for object in Array(self) { try object.setValue(value, forKey: name) }
  }
}
