import ChangeTracker
import Foundation
import StorageInterface
import StoreValues

/// The context of a migration block: the objects before, by the file's names, and after, by the program's.
///
/// Everything happens in one transaction: the file gets all of the changes or none. Confined to its block.
public final class Migration {
  /// The types as they are in the file.
  public let oldSchema: Schema
  /// The types as the program declares them.
  public let newSchema: Schema
  let old: any ReadTransaction
  let write: RecordedTransaction
  private let configuration: StoreConfiguration
  private let step: () throws(StoreError) -> Void
  let coverage = MigrationCoverage()

  init(
    _ old: any ReadTransaction, _ write: RecordedTransaction, _ configuration: StoreConfiguration,
    _ step: @escaping () throws(StoreError) -> Void
  ) {
    self.old = old
    self.write = write
    self.step = step
    self.configuration = configuration
    oldSchema = old.catalog.schema
    newSchema = configuration.schema
  }

  /// Runs `body` for every object of a type, by its old or new name, in insertion order, with the old and the new object; the new
  /// one is nil if the type or the object is deleted. Throws `.unknownType`, `.cancelled`, and what `body` throws.
  public func enumerateObjects(
    ofType name: String, _ body: (_ old: MigrationObject, _ new: MigrationObject?) throws -> Void
  ) throws {
    guard let before = old.catalog[name] ?? configuration.renamedTypes.first(where: { $0.value == name }).flatMap({ old.catalog[$0.key] })
    else {
      if write.transaction.catalog[name] != nil { return }  // a new type, which has no objects yet
      throw StoreError.unknownType(name)
    }
    for key in try storing({ () throws(StorageError) in try KeySnapshot(of: before.id, in: old) }).array {
      try step()
      // The table still exists: types are emptied, never removed.
      let isThere = try storing { () throws(StorageError) in try write.transaction.contains(before.id, ObjectKey(key)) }
      try body(
        MigrationObject(old, nil, before.id, ObjectKey(key), coverage),
        isThere ? MigrationObject(write.transaction, write, before.id, ObjectKey(key), coverage) : nil)
    }
  }

  /// Creates a new object. Omitted values are the defaults; those without one, or with one of objects, must be set before the
  /// migration ends. Throws `.unknownType`, `.unknownProperty`, `.typeMismatch`, `.primaryKeyExists`, `.uniqueViolation`; then no
  /// object is created.
  @discardableResult
  public func create(_ type: String, _ values: [String: Value] = [:]) throws(StoreError) -> MigrationObject {
    guard let entry = write.transaction.catalog[type] else { throw .unknownType(type) }
    let defaults = configuration.defaults(of: type, in: write.transaction.catalog)
    let row = try defaults?.row() ?? RowBuffer(entry)
    try storing { () throws(StorageError) in try write.beginSavepoint() }
    do throws(StoreError) {
      let key: ObjectKey
      do throws(StorageError) { key = try write.insert(row) } catch {
        throw StoreError(error, in: write.transaction.catalog, type: type)
      }
      let object = MigrationObject(write.transaction, write, entry.id, key, coverage)
      for name in defaults?.required ?? [] { if let id = entry[name]?.id { coverage.need(entry.column(id), [key.rawValue]) } }
      for made in try defaults?.linkedValues() ?? [] {
        let column = entry.column(made.column.id)
        if let value = made.value {
          try storing { () throws(StorageError) in try write.fill(column, key, made.column.schema, with: value) }
        } else {
          coverage.need(column, [key.rawValue], withheld: .objects)
        }
      }
      for (name, value) in values.sorted(by: { $0.key < $1.key }) { try object.set(name, to: value) }
      try storing { () throws(StorageError) in try write.releaseSavepoint() }
      return object
    } catch {
      try storing { () throws(StorageError) in try write.rollbackToSavepoint() }
      throw error
    }
  }

  /// Deletes a new object, applying delete rules.
  public func delete(_ object: MigrationObject) throws(StoreError) {
    do throws(StorageError) {
      try write.delete(object.table, object.key)
    } catch {
      throw StoreError(error, type: object.type, key: object.key.rawValue)
    }
  }

  /// Deletes every object of a type. Returns whether the type exists.
  @discardableResult
  public func deleteData(forType name: String) throws(StoreError) -> Bool {
    guard let table = write.transaction.catalog[name]?.id else { return false }
    try storing { () throws(StorageError) in
      for key in try KeySnapshot(of: table, in: write.transaction).array { try write.deleteAlone(table, ObjectKey(key)) }
    }
    return true
  }

  /// Copies a property's old values to another property. Throws `.unknownType`, `.unknownProperty`, `.typeMismatch` if a value
  /// cannot be converted to the new property's type.
  public func renameProperty(onType type: String, from oldName: String, to newName: String) throws {
    guard let after = write.transaction.catalog[type], let before = old.catalog[after.id] else {
      throw StoreError.unknownType(type)
    }
    guard let source = before[oldName] else { throw StoreError.unknownProperty(oldName, of: type) }
    guard let target = after[newName] else { throw StoreError.unknownProperty(newName, of: type) }
    coverage.noteRead(before.column(source.id))
    try copy(before.column(source.id), to: after.column(target.id), isLossy: false)
  }

  /// Copies a column of the old version to one of the new version, for all objects that still exist. `isLossy`: values that cannot
  /// be converted leave the default, and the program must handle them.
  func copy(_ source: ColumnID, to target: ColumnID, isLossy: Bool) throws(StoreError) {
    guard let from = old.catalog[source]?.schema, let to = write.transaction.catalog[target]?.schema else { return }
    let targets = LinkTargets(from, to, old.catalog, write.transaction.catalog)
    let keys = try storing { () throws(StorageError) in try KeySnapshot(of: source.table, in: old) }.array
    var lost: [Int64] = []
    var example: String?
    for key in keys {
      try step()
      let isThere = try storing { () throws(StorageError) in try write.transaction.contains(source.table, ObjectKey(key)) }
      if !isThere { continue }
      let value = try storing { () throws(StorageError) in
        try CopiedValue(from, source, ObjectKey(key), in: old)
      }
      do throws(StoreError) {
        if try write.put(value, targets, in: target, to, ObjectKey(key)) { coverage.noteSet(target, ObjectKey(key)) }
      } catch {
        if !isLossy || error.code != .typeMismatch { throw error }
        if lost.isEmpty { example = "\(value.sample) in #\(key)" }
        lost.append(key)
      }
    }
    coverage.need(target, lost, lostFrom: source, example: example)
  }
}

/// Where the links of a property lead, before and after it is copied to another one.
struct LinkTargets {
  /// The type before; nil if the property holds no links.
  private let before: TableEntry?
  private let after: TableEntry?

  init(_ from: PropertySchema, _ to: PropertySchema, _ old: Catalog, _ new: Catalog) {
    before = from.isRelationship ? from.target.flatMap { old[$0] } : nil
    after = to.isRelationship ? to.target.flatMap { new[$0] } : nil
  }

  /// What a link becomes in a property of a type; nil if that cannot hold it. An object's key means another object in another type.
  func link(_ key: ObjectKey, in type: ValueType?) -> Value? {
    guard let before else { return nil }
    // A type that was renamed is the same one.
    if type == .link { return after?.id == before.id ? .link(key) : nil }
    return type == .mixed && !before.isEmbedded ? .object(ObjectLink(before.id, key)) : nil
  }
}

extension RecordedTransaction {
  /// Sets a property to a value of another property's type. False for a null where none is allowed. Throws `.typeMismatch` if the
  /// value cannot be converted, or the property cannot hold all of it: several elements, repeated ones, or the keys of a map.
  func put(
    _ value: CopiedValue, _ targets: LinkTargets, in target: ColumnID, _ to: PropertySchema, _ key: ObjectKey
  ) throws(StoreError) -> Bool {
    func converted(_ value: Value) throws(StoreError) -> Value? {
      // In a map of links, the entry of an object that was deleted is null.
      if value.isNull { return to.mayBeNull || to.isMap && to.isRelationship ? .null : nil }
      let made: Value? =
        if case .link(let key) = value { targets.link(key, in: to.valueType) } else { to.valueType.flatMap { value.migrated(to: $0) } }
      guard let made else { throw .typeMismatch(value, to) }
      return made
    }
    var elements: [(name: String?, value: Value)] = []
    switch value {
    case .scalar(let scalar): elements = scalar.isNull && !to.isScalar ? [] : [(nil, scalar)]
    case .list(let values): elements = values.map { (nil, $0) }
    case .map(let map): elements = map.entries.map { ($0.key, $0.value) }
    }
    var made: [(name: String?, value: Value)] = []
    for (name, value) in elements { if let value = try converted(value) { made.append((name, value)) } }
    let holdsAll =
      switch to.kind {
      case .scalar: made.count <= 1 && made.allSatisfy { $0.name == nil }
      case .list: made.allSatisfy { $0.name == nil }
      case .set: made.allSatisfy { $0.name == nil } && Set(made.map(\.value.orderKey)).count == made.count
      case .map, .linkingObjects: true
      }
    if !holdsAll { throw .typeMismatch(Value.list(made.map(\.value)), to) }
    try set(target, key, to, made)
    return !to.isScalar || !made.isEmpty
  }

  private func set(
    _ target: ColumnID, _ key: ObjectKey, _ to: PropertySchema, _ made: [(name: String?, value: Value)]
  ) throws(StoreError) {
    try storing { () throws(StorageError) in
      switch to.kind {
      case .scalar: if let first = made.first { try set(target, key, first.value) }
      case .list:
        try edit(target, key, .clear)
        try edit(target, key, .insert(at: 0, made.map(\.value)))
      case .set: try replaceSet(target, key, made.map(\.value))
      case .map:
        let entries = made.enumerated().map { ValueMap.Entry($0.element.name ?? String($0.offset), $0.element.value) }
        try replaceMap(target, key, entries)
      case .linkingObjects: break
      }
    }
  }
}

extension CopiedValue {
  /// A readable description.
  fileprivate var sample: String {
    switch self {
    case .scalar(let value): "'\(value)'"
    case .list(let values): "\(values.count) elements"
    case .map(let map): "\(map.entries.count) entries"
    }
  }
}
