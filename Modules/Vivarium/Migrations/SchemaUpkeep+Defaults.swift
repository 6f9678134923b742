import ChangeTracker
import StorageInterface
import StoreValues

extension SchemaUpkeep {
  /// Adopts a catalog that extends the file's, and sets the declared defaults of new properties in existing objects. Throws
  /// `.schemaMismatch` for a new property without a default, or with one of objects, if there are objects, and for values that would
  /// be lost.
  func adopt(_ grown: Catalog, _ steps: [CatalogStep], _ write: RecordedTransaction) throws(StoreError) {
    let old = write.transaction.catalog
    try checkReplicated(grown, write)
    let faults = try forgotten(steps, write.transaction) + strays(from: old, to: grown, isMigration: false, write.transaction)
    let added = try evaluated(in: grown, steps, faults, write)
    let retired = grown.retired(since: old)
    if added.isEmpty, retired.isEmpty { return try storing { () throws(StorageError) in try write.setCatalog(grown) } }
    // Set without new indexes: values may become unique only with their defaults.
    try storing { () throws(StorageError) in
      try write.setCatalog(grown.withoutIndexes(unlessIn: old))
      for column in retired { try empty(column, write) }
    }
    var unfilled: [SchemaFault] = []
    for (type, names) in added.sorted(by: { $0.key < $1.key }) {
      for property in try fill(type, names, write) {
        unfilled.append(SchemaFault(type: type, property: property.name, message: property.reason.message(property.keys.count)))
      }
    }
    if !unfilled.isEmpty { throw .schemaMismatch(unfilled) }
    if !retired.isEmpty { try storing { () throws(StorageError) in try write.removeOrphans() } }
    do throws(StorageError) { try write.setCatalog(grown) } catch {
      let table = grown.tables.first { $0.indexes.contains { $0.id == error.index } }
      throw StoreError(error, in: grown, type: table?.name ?? "")
    }
  }

  /// The new properties whose values must be written to existing objects, by type.
  private func evaluated(
    in grown: Catalog, _ steps: [CatalogStep], _ known: [SchemaFault], _ write: RecordedTransaction
  ) throws(StoreError) -> [String: Set<String>] {
    var names: [String: Set<String>] = [:]
    for case .addedProperty(let type, let property) in steps { names[type, default: []].insert(property) }
    var result: [String: Set<String>] = [:]
    var faults = known
    for (type, added) in names.sorted(by: { $0.key < $1.key }) {
      guard let table = write.transaction.catalog[type], let defaults = configuration.defaults(of: type, in: grown) else { continue }
      let count = try storing { () throws(StorageError) in try write.transaction.count(table.id) }
      if count == 0 { continue }
      _ = try defaults.row()
      for name in defaults.required where added.contains(name) {
        faults.append(
          SchemaFault(
            type: type, property: name,
            message: "is new and has no default, and \(count) objects need a value: give it a default, make it optional, or set it in a "
              + "migration; if it had another name, write '@Renamed(from:)' there"))
      }
      let evaluated = try defaults.evaluated(of: added)
      for made in try defaults.values(evaluated) {
        guard let reason = withheld(made.value, type, in: write.transaction.catalog) else { continue }
        faults.append(SchemaFault(type: type, property: made.column.schema.name, message: reason.message(count)))
      }
      if !evaluated.isEmpty { result[type] = evaluated }
    }
    if !faults.isEmpty { throw .schemaMismatch(faults) }
    return result
  }
}

/// Objects that did not get the declared default of a property.
struct UnfilledProperty {
  let name: String
  let column: ColumnID
  let reason: WithheldDefault
  var keys: [Int64]
}

extension SchemaUpkeep {
  /// Evaluates the defaults for each object of a type, and sets the named properties, which nobody has set yet. Returns those that objects
  /// did not get.
  func fill(_ type: String, _ names: Set<String>, _ write: RecordedTransaction) throws(StoreError) -> [UnfilledProperty] {
    let catalog = write.transaction.catalog
    guard let defaults = configuration.defaults(of: type, in: catalog) else { return [] }
    let table = defaults.entry
    var unfilled: [UnfilledProperty] = []
    for key in try storing({ () throws(StorageError) in try KeySnapshot(of: table.id, in: write.transaction) }).array {
      _ = try defaults.row()
      for made in try defaults.values(names) {
        let column = table.column(made.column.id)
        if let reason = withheld(made.value, type, in: catalog) {
          if let at = unfilled.firstIndex(where: { $0.column == column && $0.reason == reason }) {
            unfilled[at].keys.append(key)
          } else {
            unfilled.append(UnfilledProperty(name: made.column.schema.name, column: column, reason: reason, keys: [key]))
          }
        } else if let value = made.value {
          do throws(StorageError) { try write.fill(column, ObjectKey(key), made.column.schema, with: value) } catch {
            throw StoreError(error, in: catalog, type: type, key: key)
          }
        }
      }
      try checkWanted()
    }
    return unfilled
  }
}

extension RecordedTransaction {
  /// Sets a property of an object; a collection must be empty.
  func fill(_ column: ColumnID, _ key: ObjectKey, _ property: PropertySchema, with value: CopiedValue) throws(StorageError) {
    switch value {
    case .scalar(let scalar): try set(column, key, scalar)
    case .list(let members) where property.isSet: for member in members { try insert(member: member, into: column, key) }
    case .list(let elements): if !elements.isEmpty { try edit(column, key, .insert(at: 0, elements)) }
    case .map(let map): for entry in map.entries { try set(entry.value, forKey: entry.key, in: column, key) }
    }
  }
}
