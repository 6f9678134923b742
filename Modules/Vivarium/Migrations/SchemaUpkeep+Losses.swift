import ChangeTracker
import StorageInterface
import StoreValues

/// What a schema change would lose without the program's explicit consent.
extension SchemaUpkeep {
  /// Properties with values that the program does not list, in types that gain others: usually an undeclared rename. Without
  /// additions nothing is at risk: the values stay in the file, so an older program that lists less can use it.
  func forgotten(_ steps: [CatalogStep], _ reading: any StorageReading) throws(StoreError) -> [SchemaFault] {
    var faults: [SchemaFault] = []
    for object in configuration.schema.objects {
      let gained = steps.compactMap { step in if case .addedProperty(object.name, let property) = step { property } else { nil } }
      guard let first = gained.first, let table = reading.catalog[object.name] else { continue }
      for column in reading.catalog.unlisted(in: object) {
        let name = column.schema.name
        if object.renames.contains(where: { $0.from == name }) { continue }
        if configuration.unlistedProperties["\(object.name).\(name)"] != nil { continue }
        let count = try storing { () throws(StorageError) in try reading.holders(of: table.column(column.id)) }
        if count == 0 { continue }
        faults.append(
          SchemaFault(
            type: object.name, property: name,
            message: "has values in \(count.objects) and is not among the program's properties, while '\(first)' is new: if that is "
              + "its name now, write '@Renamed(from: \"\(name)\")' there; else say in the configuration's 'unlistedProperties' whether "
              + "to keep or to remove it"))
      }
    }
    return faults
  }

  /// Properties that a migration removes although their values were never read.
  func unnoticed(_ plan: CatalogMigration, _ migration: Migration) throws(StoreError) -> [SchemaFault] {
    var faults: [SchemaFault] = []
    let (old, write) = (migration.old, migration.write)
    for column in plan.retired where !migration.coverage.hasRead(column) && !plan.moves.contains(where: { $0.from == column }) {
      guard let type = write.transaction.catalog[column.table]?.name, let name = old.catalog[column]?.schema.name,
        configuration.unlistedProperties["\(type).\(name)"] != .remove
      else { continue }
      let count = try storing { () throws(StorageError) in try write.transaction.holders(of: column) }
      if count == 0 { continue }
      faults.append(
        SchemaFault(
          type: type, property: name,
          message: "has values in \(count.objects) and is not among the program's properties: if it has another name now, write "
            + "'@Renamed(from: \"\(name)\")' there, or let the migration read it; else say in the configuration's "
            + "'unlistedProperties' whether to keep or to remove it"))
    }
    return faults
  }

  /// Objects that the migration left without a required value, or whose values could not be converted.
  func unfinished(_ migration: Migration) throws(StoreError) -> [SchemaFault] {
    var faults: [SchemaFault] = []
    let reading = migration.write.transaction
    for open in migration.coverage.open {
      guard let type = reading.catalog[open.column.table]?.name, let name = reading.catalog[open.column]?.schema.name else { continue }
      if let source = open.source {
        if migration.coverage.hasRead(source) || configuration.unlistedProperties["\(type).\(name)"] == .remove { continue }
      }
      var count = 0
      for key in open.keys {
        if try storing({ () throws(StorageError) in try reading.contains(open.column.table, ObjectKey(key)) }) { count += 1 }
      }
      if count == 0 { continue }
      faults.append(SchemaFault(type: type, property: name, message: message(open, count)))
    }
    return faults
  }

  private func message(_ open: MigrationCoverage.Open, _ count: Int) -> String {
    if let reason = open.withheld { return reason.message(count) }
    if open.source == nil {
      return "has no default, and \(count.objects) \(count == 1 ? "needs" : "need") a value: give it a default, make it "
        + "optional, or set it in the migration; if it had another name, write '@Renamed(from:)' there"
    }
    return "changes its type, and the values of \(count.objects) cannot be converted, such as "
      + "\(open.example ?? "?"): set it in the migration, or let that read the old values"
  }

  /// Enum values without a case. Searched only if the file may have some: once for each change of an enum.
  func strays(
    from old: Catalog, to new: Catalog, isMigration: Bool, _ reading: any StorageReading
  ) throws(StoreError) -> [SchemaFault] {
    var faults: [SchemaFault] = []
    for table in new.tables where old[table.id] != nil {
      for column in table.currentColumns {
        guard let cases = column.schema.cases, column.schema.isStored else { continue }
        let place = table.column(column.id)
        if let before = old[place] {
          if let known = before.schema.cases, known.allSatisfy({ cases.contains($0) }) { continue }
        } else if !isMigration {
          // A new property has only defaults; but a migration may have copied values into it.
          continue
        }
        let found = try storing { () throws(StorageError) in try reading.strays(in: place, cases: cases) }
        if found.isEmpty { continue }
        let list = found.map { "'\($0.value)' in \($0.objects.objects)" }.joined(separator: ", ")
        faults.append(
          SchemaFault(
            type: table.name, property: column.schema.name,
            message: "has values that are no case any more: \(list); keep the case, or set other values in a migration"))
      }
    }
    return faults
  }
}

extension Int {
  /// A readable count: "1 object", "2 objects".
  var objects: String { "\(self) \(self == 1 ? "object" : "objects")" }
}
