import ChangeTracker
import QueryModel
import StorageInterface
import StoreValues

extension DynamicObject {
  /// The objects of a list of links, or of an inverse, as live results that can be filtered, sorted and observed, in the list's
  /// order. Reads nothing. `.unknownProperty`.
  ///
  /// ```swift
  /// let dogs = try person.results("dogs").filter("age > 2")
  /// ```
  public func results(_ name: String) throws(StoreError) -> DynamicResults {
    guard let entry = store.reading.catalog[table], let column = entry[name] else { throw .unknownProperty(name, of: id.type) }
    let (source, type): (ResultDescription.Source, String)
    switch column.schema.kind {
    case .linkingObjects(let origin, let forward):
      guard let other = store.reading.catalog[origin], let link = other[forward] else { throw .unknownType(origin) }
      (source, type) = (.sources(of: id.key, through: other.column(link.id)), origin)
    case .list(.link):
      guard let target = column.schema.target else { throw .unknownProperty(name, of: id.type) }
      (source, type) = (.list(entry.column(column.id), of: id.key), target)
    default: throw .unknownProperty(name, of: id.type)
    }
    guard let table = store.reading.catalog[type]?.id else { throw .unknownType(type) }
    return DynamicResults(store, ResultDescription(query: Query(type: type), source: source), table)
  }

  /// Adds a member to a set by the set's name. Returns whether it was new. `.notInWrite`, `.unknownProperty`, `.typeMismatch`,
  /// `.objectDeleted` (also for a link without a target).
  @discardableResult
  public func insert(_ member: Value, into name: String) throws(StoreError) -> Bool {
    try change(name, member, \.isSet) { (write, column) throws(StorageError) in try write.insert(member: member, into: column, id.key) }
  }

  /// Removes a member from a set by the set's name. Returns whether it was a member. Throws the errors of `insert(_:into:)`.
  @discardableResult
  public func remove(_ member: Value, from name: String) throws(StoreError) -> Bool {
    try change(name, member, \.isSet) { (write, column) throws(StorageError) in try write.remove(member: member, from: column, id.key) }
  }

  /// Sets the value of a key in a map by the map's name. Returns whether the map changed. Throws the errors of `insert(_:into:)`.
  @discardableResult
  public func set(_ value: Value, forKey key: String, in name: String) throws(StoreError) -> Bool {
    try change(name, value, \.isMap) { (write, column) throws(StorageError) in try write.set(value, forKey: key, in: column, id.key) }
  }

  /// Removes a key from a map by the map's name. Returns whether the key existed. Throws the errors of `insert(_:into:)`.
  @discardableResult
  public func remove(key: String, from name: String) throws(StoreError) -> Bool {
    try change(name, nil, \.isMap) { (write, column) throws(StorageError) in try write.remove(key: key, from: column, id.key) }
  }

  private func change(
    _ name: String, _ value: Value?, _ isRight: (PropertySchema) -> Bool,
    _ body: (RecordedTransaction, ColumnID) throws(StorageError) -> Bool
  ) throws(StoreError) -> Bool {
    let write = try store.openWrite(for: "Changing '\(id.type).\(name)'")
    guard let column = write.transaction.catalog[table]?[name], isRight(column.schema) else { throw .unknownProperty(name, of: id.type) }
    if let value {
      guard let type = column.schema.valueType, value.fits(type), !value.isNull || type == .mixed else {
        throw .typeMismatch(value, column.schema)
      }
      try write.checkLink(value, column.schema)
    }
    defer { store.didChangeEverything() }
    do throws(StorageError) {
      if try write.transaction.contains(table, id.key) { return try body(write, ColumnID(table, column.id)) }
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: id.type, key: id.key.rawValue)
    }
    throw .objectDeleted(type: id.type, key: id.key.rawValue)
  }
}
