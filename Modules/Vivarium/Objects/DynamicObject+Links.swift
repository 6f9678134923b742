import ChangeTracker
import StorageInterface
import StoreValues

extension DynamicObject {
  /// The target of a to-one link; nil if the link is null, for other names, and if the object is deleted.
  public func link(_ name: String) -> DynamicObject? {
    guard case .link(let key)? = self[name], let target = column(name)?.target else { return nil }
    return object(target, key)
  }

  /// The objects of a list of links, or of an inverse, in order; nil for other names. Those before it if a read fails, which is
  /// logged.
  public func objects(_ name: String) -> [DynamicObject]? {
    guard let property = column(name) else { return nil }
    if case .linkingObjects(let type, let forward) = property.kind {
      guard let origin = store.reading.catalog[type], let link = origin[forward] else { return [] }
      var keys: [Int64] = []
      store.reported(
        try store.reading.sources(of: id.key, through: origin.column(link.id)) { block in
          keys += block
          return .proceed
        })
      return keys.compactMap { object(type, ObjectKey($0)) }
    }
    guard property.isRelationship, let target = property.target, let values = elements(name) else { return nil }
    return values.compactMap { value in
      guard case .link(let key) = value else { return nil }
      return object(target, key)
    }
  }

  /// Edits a list by name. `.notInWrite`, `.unknownProperty`, `.typeMismatch`, `.indexOutOfRange`, `.objectDeleted` (also for a
  /// link without a target), `.alreadyOwned`.
  public func edit(_ name: String, _ edit: ElementEdit) throws(StoreError) {
    let write = try store.openWrite(for: "Changing '\(id.type).\(name)'")
    guard let column = write.transaction.catalog[table]?[name], column.schema.isList else {
      throw .unknownProperty(name, of: id.type)
    }
    for value in edit.given { try write.checkLink(value, column.schema) }
    defer { store.didChangeEverything() }
    do throws(StorageError) {
      try write.edit(ColumnID(table, column.id), id.key, edit)
    } catch {
      throw StoreError(error, type: id.type, key: id.key.rawValue)
    }
  }

  private func column(_ name: String) -> PropertySchema? { store.reading.catalog[table]?[name]?.schema }

  private func object(_ type: String, _ key: ObjectKey) -> DynamicObject? {
    guard let table = store.reading.catalog[type]?.id else { return nil }
    return DynamicObject(store: store, id: ObjectID(type: type, key: key), table: table)
  }
}

extension DynamicObject: Hashable {
  /// Whether both are the same object of the same file.
  public static func == (a: Self, b: Self) -> Bool { a.id == b.id && a.store.shared === b.store.shared }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Store {
  /// The object with a primary key, of a type given by name; nil if there is none. `.unknownType`.
  public func dynamicObject(_ type: String, forPrimaryKey key: Value) throws(StoreError) -> DynamicObject? {
    guard let table = reading.catalog[type] else { throw .unknownType(type) }
    guard let index = table.primaryIndex else { return nil }
    let found = try storing { () throws(StorageError) in try reading.key(in: index.id, equal: [key]) }
    return found.map { DynamicObject(store: self, id: ObjectID(type: type, key: $0), table: table.id) }
  }

  /// Deletes an object given as a dynamic object, as `delete(_:)` does.
  public func delete(_ object: DynamicObject) throws(StoreError) {
    let write = try openWrite(for: "Deleting a \(object.id.type)")
    guard object.store.shared === shared else {
      throw .wrongStore("The \(object.id.type) object")
    }
    dropWindows()
    defer { didChangeEverything() }
    do throws(StorageError) {
      try write.delete(object.table, object.id.key)
    } catch {
      throw StoreError(error, type: object.id.type, key: object.id.key.rawValue)
    }
  }
}
