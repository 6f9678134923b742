import ChangeTracker
import StorageInterface
import StoreValues

extension SchemaUpkeep {
  /// Adopts a catalog that extends the file's, and sets the declared defaults of new properties in existing objects. Throws
  /// `.schemaMismatch` for a new property without a default if objects need a value, and for values that would be lost.
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
    for (type, names) in added { try fill(type, names, write) }
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
      let evaluated = defaults.evaluated(of: added)
      if !evaluated.isEmpty { result[type] = evaluated }
    }
    if !faults.isEmpty { throw .schemaMismatch(faults) }
    return result
  }

  /// Evaluates the defaults for each object of a type.
  func fill(_ type: String, _ names: Set<String>, _ write: RecordedTransaction) throws(StoreError) {
    guard let defaults = configuration.defaults(of: type, in: write.transaction.catalog) else { return }
    let table = defaults.entry.id
    for key in try storing({ () throws(StorageError) in try KeySnapshot(of: table, in: write.transaction) }).array {
      _ = try defaults.row()
      for (column, value) in defaults.values(names) {
        do throws(StorageError) { try write.set(column, ObjectKey(key), value) } catch {
          throw StoreError(error, in: write.transaction.catalog, type: type, key: key)
        }
      }
      try checkWanted()
    }
  }
}
