import ChangeTracker
import StorageInterface
import StoreValues

/// What a schema change would do to the other replicas of a file.
extension SchemaUpkeep {
  /// Throws `.schemaMismatch` if replicated properties with values are removed, renamed or get another type: other replicas go on with
  /// them as they are, and what they write there could not be shown here. Call it before the file is changed.
  func checkReplicated(_ new: Catalog, _ write: RecordedTransaction) throws(StoreError) {
    let old = write.transaction.catalog
    guard old.hasSideEntries else { return }
    var faults: [SchemaFault] = []
    for table in old.tables where configuration.replicates(table.name) {
      guard let later = new[table.id] else { continue }
      for column in table.currentColumns where column.schema.isStored && column.schema.derivation == nil {
        guard let fate = fate(of: column.schema.name, column.id, in: later) else { continue }
        let count = try storing { () throws(StorageError) in try write.transaction.holders(of: table.column(column.id)) }
        if count == 0 { continue }
        faults.append(
          SchemaFault(
            type: table.name, property: column.schema.name,
            message: "is replicated, has values in \(count.objects) and would \(fate), while other replicas go on with it: leave it as "
              + "it is, and add a property with another name"))
      }
    }
    if !faults.isEmpty { throw .schemaMismatch(faults) }
  }

  /// nil for a property that goes on as it was.
  private func fate(of name: String, _ column: PropertyID, in later: TableEntry) -> String? {
    guard let after = later[column] else { return "be removed" }
    if after.schema.name == name, !after.isRetired { return nil }
    if !after.isRetired { return "be renamed" }
    return later[name] != nil ? "get another type" : "be removed"
  }
}
