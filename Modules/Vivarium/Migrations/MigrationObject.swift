import ChangeTracker
import StorageInterface
import StoreValues

/// An object in a migration, accessed by names: an old object, for reading, or a new one, for reading and setting.
///
/// Reading throws nothing. A value that cannot be read is null or empty for its block; after that the migration ends with the
/// engine's error, and the file is unchanged.
public struct MigrationObject {
  private let reading: any StorageReading
  private let write: RecordedTransaction?
  let table: TableID
  /// The object's key, the same before and after.
  public let key: ObjectKey

  /// Records what the migration reads of old objects and sets in new ones.
  private let coverage: MigrationCoverage

  init(
    _ reading: any StorageReading, _ write: RecordedTransaction?, _ table: TableID, _ key: ObjectKey, _ coverage: MigrationCoverage
  ) {
    self.coverage = coverage
    self.reading = reading
    self.write = write
    self.table = table
    self.key = key
  }

  /// The name of the object's type.
  public var type: String { reading.catalog[table]?.name ?? "?" }

  /// A scalar or link by name; `.null` for null and for unknown names.
  public subscript(name: String) -> Value {
    guard let column = column(name), column.schema.isScalar else { return .null }
    return read { () throws(StorageError) in try reading.value(ColumnID(table, column.id), key) } ?? .null
  }

  /// The elements of a list or a set; empty for other names.
  public func elements(_ name: String) -> [Value] {
    guard let column = column(name), column.schema.isList || column.schema.isSet else { return [] }
    return read { () throws(StorageError) in try reading.values(ColumnID(table, column.id), key, 0..<Int.max) } ?? []
  }

  /// The entries of a map; empty for other names.
  public func entries(_ name: String) -> [ValueMap.Entry] {
    guard let column = column(name), column.schema.isMap else { return [] }
    return read { () throws(StorageError) in try reading.entries(ColumnID(table, column.id), key, 0..<Int.max) } ?? []
  }

  /// nil if the read fails. What is null here would be taken for what the file has, and the old values would go.
  private func read<R>(_ body: () throws(StorageError) -> R) -> R? {
    do throws(StorageError) { return try body() } catch {
      // A block may delete a new object and go on with it.
      if write == nil || error.code != .objectDeleted { coverage.noteFailure(error) }
      return nil
    }
  }

  /// Sets a scalar or link of a new object. Throws `.unknownProperty`, `.typeMismatch`, `.uniqueViolation`, `.readOnly` for an old
  /// object.
  public func set(_ name: String, to value: Value) throws(StoreError) {
    guard let write else { throw StoreError(.readOnly, "The \(type) object as it was cannot be changed.") }
    guard let column = column(name), case .scalar(let wanted) = column.schema.kind else { throw .unknownProperty(name, of: type) }
    guard value.isNull ? column.schema.mayBeNull : value.fits(wanted) else { throw .typeMismatch(value, column.schema) }
    try checkCase(value, column.schema)
    try write.checkLink(value, column.schema, mayBeOwned: true)
    do throws(StorageError) {
      try write.set(ColumnID(table, column.id), key, value)
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: type, key: key.rawValue, value: value)
    }
    coverage.noteSet(ColumnID(table, column.id), key)
  }

  /// Replaces the elements of a list or a set of a new object.
  public func set(_ name: String, to elements: [Value]) throws(StoreError) {
    guard let write else { throw StoreError(.readOnly, "The \(type) object as it was cannot be changed.") }
    guard let column = column(name), column.schema.isList || column.schema.isSet else { throw .unknownProperty(name, of: type) }
    for element in elements {
      try write.checkLink(element, column.schema, mayBeOwned: true)
      try checkCase(element, column.schema)
    }
    let place = ColumnID(table, column.id)
    try storing { () throws(StorageError) in
      if column.schema.isList {
        try write.edit(place, key, .clear)
        try write.edit(place, key, .insert(at: 0, elements))
      } else {
        try write.removeAllMembers(of: place, key)
        for element in elements { try write.insert(member: element, into: place, key) }
      }
    }
    coverage.noteSet(place, key)
  }

  /// Replaces the entries of a map of a new object. Throws `.unknownProperty`, `.typeMismatch`, `.readOnly`.
  public func set(_ name: String, to entries: [String: Value]) throws(StoreError) {
    guard let write else { throw StoreError(.readOnly, "The \(type) object as it was cannot be changed.") }
    guard let column = column(name), case .map(let wanted) = column.schema.kind else { throw .unknownProperty(name, of: type) }
    for value in entries.values {
      guard value.fits(wanted), !value.isNull || wanted == .mixed else { throw .typeMismatch(value, column.schema) }
      try write.checkLink(value, column.schema, mayBeOwned: true)
      try checkCase(value, column.schema)
    }
    let place = ColumnID(table, column.id)
    let sorted = entries.sorted { $0.key < $1.key }.map { ValueMap.Entry($0.key, $0.value) }
    _ = try storing { () throws(StorageError) in try write.replaceMap(place, key, sorted) }
    coverage.noteSet(place, key)
  }

  /// Edits a list of a new object. Throws `.unknownProperty`, `.typeMismatch`, `.indexOutOfRange`, `.readOnly`.
  public func edit(_ name: String, _ edit: ElementEdit) throws(StoreError) {
    guard let write else { throw StoreError(.readOnly, "The \(type) object as it was cannot be changed.") }
    guard let column = column(name), column.schema.isList else { throw .unknownProperty(name, of: type) }
    for value in edit.given {
      try write.checkLink(value, column.schema, mayBeOwned: true)
      try checkCase(value, column.schema)
    }
    do throws(StorageError) { try write.edit(ColumnID(table, column.id), key, edit) } catch {
      throw StoreError(error, type: type, key: key.rawValue)
    }
    coverage.noteSet(ColumnID(table, column.id), key)
  }

  /// Throws `.typeMismatch` for a value of an enum that is not one of its cases.
  private func checkCase(_ value: Value, _ schema: PropertySchema) throws(StoreError) {
    guard let cases = schema.cases, let raw = DefaultValue(value), !cases.contains(raw) else { return }
    throw .typeMismatch(value, schema)
  }

  /// Looks up a property; records it as read if the object is an old one.
  private func column(_ name: String) -> ColumnEntry? {
    guard let table = reading.catalog[table], let column = table[name] else { return nil }
    if write == nil { coverage.noteRead(table.column(column.id)) }
    return column
  }
}

extension Catalog {
  /// The types and properties that are accessible by name.
  var schema: Schema {
    Schema(
      tables.map { table in
        ObjectSchema(
          name: table.name, properties: table.columns.filter { !$0.isRetired }.map(\.schema), isEmbedded: table.isEmbedded)
      })
  }
}
