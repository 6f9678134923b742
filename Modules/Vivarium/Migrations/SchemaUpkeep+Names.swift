import StorageInterface
import StoreValues

/// Types that the program seems to call otherwise than the file, without saying so.
extension SchemaUpkeep {
  /// A warning for each new type that has exactly the properties of a type which has objects and is not among the models. Both stay, so
  /// nothing is lost, but the program finds no objects. Types are created once in a file, so most openings look at nothing.
  func forgottenNames(_ steps: [CatalogStep], _ reading: any StorageReading) throws(StoreError) -> [String] {
    var warnings: [String] = []
    let objects = configuration.schema.objects
    let listed = Set(objects.map(\.name))
    let unlisted = reading.catalog.tables.filter { !listed.contains($0.name) }
    if unlisted.isEmpty { return [] }
    for case .createdTable(let name) in steps {
      guard let object = objects.first(where: { $0.name == name }) else { continue }
      let kinds = object.properties.kinds
      if kinds.isEmpty { continue }
      for table in unlisted where table.isEmbedded == object.isEmbedded {
        guard table.currentColumns.map(\.schema).kinds == kinds else { continue }
        let count = try storing { () throws(StorageError) in try reading.count(table.id) }
        if count == 0 { continue }
        warnings.append(
          "The type '\(name)' is new and has no objects, while '\(table.name)' has the same properties and \(count.objects), and is not "
            + "among the models. If that is its name now, give 'renamedTypes' and a higher 'schemaVersion' when a file is first opened "
            + "with the new name. In this file, which now has both types, a migration can enumerate the objects of '\(table.name)' and "
            + "create those of '\(name)'.")
      }
    }
    return warnings
  }
}

extension [PropertySchema] {
  /// What two types have in common when only their names differ: links to their own type lead elsewhere, and inverses are not stored.
  fileprivate var kinds: [String: PropertyKind] {
    Dictionary(filter(\.isStored).map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
  }
}
