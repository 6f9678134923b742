import ChangeTracker
import StorageInterface
import StoreValues

// Links that come as values, not as objects: they may lead nowhere.

extension RecordedTransaction {
  /// Refuses a link to an object that is not there (`.objectDeleted`) or, unless `mayBeOwned`, to an embedded one that is part
  /// of another (`.alreadyOwned`). Other values pass.
  func checkLink(_ value: Value, _ property: PropertySchema, mayBeOwned: Bool = false) throws(StoreError) {
    guard case .link(let key) = value, let type = property.target, let table = transaction.catalog[type] else { return }
    let isThere = try storing { () throws(StorageError) in try transaction.contains(table.id, key) }
    if !isThere { throw .objectDeleted(type: type, key: key.rawValue) }
    if mayBeOwned || !table.isEmbedded { return }
    if try storing({ () throws(StorageError) in try isOwned(table.id, key) }) { throw .alreadyOwned(type) }
  }
}

extension ModelContext {
  /// Refuses what a property of an object cannot be set to by a value in a box; what is of another type, the engine refuses.
  func check(_ value: Value, for ordinal: Int) throws(StoreError) {
    let property = properties[ordinal].schema
    guard property.isScalar else { throw .typeMismatch(value, property) }
    if property.derivation != nil { throw .derivedIsFixed(type: schema.name, property: property.name) }
    try store.writing?.checkLink(value, property)
  }
}
