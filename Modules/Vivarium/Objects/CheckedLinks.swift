import ChangeTracker
import StorageInterface
import StoreValues

// Checks of links that are given as values, not as objects, and may have no target.

extension RecordedTransaction {
  /// Rejects a link to an object that does not exist (`.objectDeleted`) or, unless `mayBeOwned`, to an embedded object that already
  /// has an owner (`.alreadyOwned`). Other values pass.
  func checkLink(_ value: Value, _ property: PropertySchema, mayBeOwned: Bool = false) throws(StoreError) {
    guard case .link(let key) = value, let type = property.target, let table = transaction.catalog[type] else { return }
    let isThere = try storing { () throws(StorageError) in try transaction.contains(table.id, key) }
    if !isThere { throw .objectDeleted(type: type, key: key.rawValue) }
    if mayBeOwned || !table.isEmbedded { return }
    if try storing({ () throws(StorageError) in try isOwned(table.id, key) }) { throw .alreadyOwned(type) }
  }
}

extension ModelContext {
  /// Rejects a value that a property of an object cannot be set to. The engine rejects values of the wrong type.
  func check(_ value: Value, for ordinal: Int) throws(StoreError) {
    let property = properties[ordinal].schema
    guard property.isScalar else { throw .typeMismatch(value, property) }
    if property.derivation != nil { throw .derivedIsFixed(type: schema.name, property: property.name) }
    try store.writing?.checkLink(value, property)
  }
}
