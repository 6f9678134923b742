import ChangeTracker
import QueryModel
import StorageInterface
import StoreValues

/// An object accessed by names only, for tools and for code without a Swift type. Live like any other object, in its store's
/// context.
public struct DynamicObject {
  /// The store that it is read from.
  public let store: Store
  /// Identifies the object in any context.
  public let id: ObjectID
  let table: TableID

  /// Whether the object was deleted. True, and logged, if that cannot be read.
  public var isInvalidated: Bool { !(store.reported(try store.reading.contains(table, id.key)) ?? false) }

  /// A scalar or to-one link by name; nil for other names, if the object is deleted, and if the read fails, which is logged.
  /// Setting requires a write: without one, `MisusePolicy` applies; a rejected value makes the write throw when it ends. Set a
  /// relationship to `.link` or `.null`.
  public subscript(name: String) -> Value? {
    get {
      guard let column = store.reading.catalog[table]?[name], column.schema.isScalar else { return nil }
      if column.schema.derivation != nil { store.settleDerived() }
      return value(column)
    }
    nonmutating set {
      do throws(StoreError) { try set(name, to: newValue ?? .null) } catch { store.refuse(error) }
    }
  }

  /// Sets a scalar, or throws: `.notInWrite`, `.unknownProperty`, `.typeMismatch`, `.uniqueViolation`, `.objectDeleted`.
  public func set(_ name: String, to value: Value) throws(StoreError) {
    let write = try store.openWrite(for: "Setting '\(id.type).\(name)'")
    guard let column = write.transaction.catalog[table]?[name], column.schema.isScalar else {
      throw .unknownProperty(name, of: id.type)
    }
    if column.schema.isPrimaryKey { throw .primaryKeyIsFixed(type: id.type, property: name) }
    if column.schema.derivation != nil { throw .derivedIsFixed(type: id.type, property: name) }
    guard value.isNull ? column.schema.mayBeNull : column.schema.valueType.map({ value.fits($0) }) ?? false else {
      throw .typeMismatch(value, column.schema)
    }
    try write.checkLink(value, column.schema)
    defer { store.didChangeEverything() }
    do throws(StorageError) {
      try write.set(ColumnID(table, column.id), id.key, value)
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: id.type, key: id.key.rawValue)
    }
  }

  /// The elements of a list or the members of a set by name; nil for other names, if the object is deleted, and if the read fails,
  /// which is logged.
  public func elements(_ name: String) -> [Value]? {
    guard let column = store.reading.catalog[table]?[name], column.schema.isList || column.schema.isSet else { return nil }
    return store.reported(try store.reading.values(ColumnID(table, column.id), id.key, 0..<Int.max))
  }

  /// The entries of a map by name, in key order; nil for other names, if the object is deleted, and if the read fails, which is
  /// logged.
  public func entries(_ name: String) -> [(key: String, value: Value)]? {
    guard let column = store.reading.catalog[table]?[name], column.schema.isMap else { return nil }
    return store.reported(try store.reading.entries(ColumnID(table, column.id), id.key, 0..<Int.max))?.map { ($0.key, $0.value) }
  }

  /// Every scalar by name, in the order of the schema; null if the object is deleted, and if the read fails, which is logged.
  public var values: [(name: String, value: Value)] {
    guard let entry = store.reading.catalog[table] else { return [] }
    store.settleDerived()
    return entry.currentColumns.compactMap { column in
      guard column.schema.isScalar else { return nil }
      return (column.schema.name, value(column) ?? .null)
    }
  }

  /// nil if the object is deleted, and if the read fails.
  private func value(_ column: ColumnEntry) -> Value? { store.reported(try store.reading.value(ColumnID(table, column.id), id.key)) }
}

extension Store {
  /// The types in the file, those of the program and others.
  public var schema: Schema {
    reading.catalog.schema
  }

  /// Every object of a type given by name, in insertion order: live, can be filtered, sorted and observed, even if the program has
  /// no model of the type. Reads nothing. `.unknownType`.
  public func dynamicObjects(_ type: String) throws(StoreError) -> DynamicResults {
    guard let table = reading.catalog[type]?.id else { throw .unknownType(type) }
    return DynamicResults(self, ResultDescription(query: Query(type: type), source: .all), table)
  }

  /// Creates an object of a type given by name. Missing values are the declared defaults; of a type without a model, those kept in
  /// the file. `.unknownType`, `.unknownProperty`, and the errors of `add`.
  @discardableResult
  public func dynamicCreate(_ type: String, _ values: [String: Value] = [:]) throws(StoreError) -> DynamicObject {
    let write = try openWrite(for: "Creating a \(type)")
    guard let entry = write.transaction.catalog[type] else { throw .unknownType(type) }
    if entry.isEmbedded { throw .embeddedAlone(type) }
    let defaults = configuration.defaults(of: type, in: write.transaction.catalog)
    let row = try defaults?.row() ?? RowBuffer(entry)
    for (name, value) in values {
      guard let column = entry[name], let slot = entry.slot(of: column.id), case .scalar(let wanted) = column.schema.kind
      else { throw .unknownProperty(name, of: type) }
      if column.schema.derivation != nil { throw .derivedIsFixed(type: type, property: name) }
      guard value.isNull ? column.schema.mayBeNull : value.fits(wanted) else {
        throw StoreError(
          .typeMismatch, "'\(type).\(name)' is \(wanted.rawValue), and was given \(value).",
          details: ["type": type, "property": name])
      }
      try write.checkLink(value, column.schema)
      row.set(slot, value)
    }
    defer { didChangeEverything() }
    let key: ObjectKey
    do throws(StorageError) { key = try write.insert(row) } catch {
      let given = entry.primaryKey.flatMap { values[$0.schema.name] }
      throw StoreError(error, in: write.transaction.catalog, type: type, value: given)
    }
    if let defaults, let model = model(named: type) {
      try addLinked(defaults.pending(without: values.keys), of: model, key.rawValue, .error, write)
    }
    return DynamicObject(store: self, id: ObjectID(type: type, key: key), table: entry.id)
  }
}
