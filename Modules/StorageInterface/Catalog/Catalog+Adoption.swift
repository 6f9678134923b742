import QueryModel
import StoreValues

/// A step of adopting a schema into a catalog. For reports (`B3`) and for dry runs.
public enum CatalogStep: Sendable, Hashable {
  case createdTable(String)
  case addedProperty(type: String, property: String)
  case addedIndex(type: String, properties: [String], isUnique: Bool)
  case removedIndex(type: String, properties: [String], isUnique: Bool)
  /// Unstored information changed: the other side of an inverse.
  case updatedProperty(type: String, property: String)
  case renamedProperty(type: String, from: String, to: String)
  // By a migration, and for properties that the program removes.
  case renamedType(from: String, to: String)
  /// The property was removed, or has a new column.
  case retiredProperty(type: String, property: String)
  case changedEmbedding(type: String, isEmbedded: Bool)
}

/// The reasons why a schema cannot be adopted without a migration. Lists every reason.
public struct CatalogConflict: Error, Sendable, Hashable {
  /// All the obstacles.
  public var faults: [SchemaFault]
}

extension Catalog {
  /// The catalog after the additive changes that `schema` requires, and the steps.
  ///
  /// New types, new properties (with a default, optional, or a collection), new or dropped indexes and renamed properties need
  /// no migration. Types and properties that the schema does not list stay in the file untouched, except those that `unlisted`
  /// says to remove: they are retired, and must be emptied. A property whose kind, optionality, target or primary-key mark
  /// differs is a conflict. Pure: nothing is written. The catalog may differ without a step, by unreported details: identities,
  /// the cases of enums.
  public func adopting(
    _ schema: Schema, unlisted: [String: UnlistedProperty] = [:]
  ) throws(CatalogConflict) -> (catalog: Catalog, steps: [CatalogStep]) {
    try adopting(schema, unlisted: unlisted, mayChangeKeys: false)
  }

  /// `mayChangeKeys`: true in a migration.
  func adopting(
    _ schema: Schema, unlisted: [String: UnlistedProperty], mayChangeKeys: Bool
  ) throws(CatalogConflict) -> (catalog: Catalog, steps: [CatalogStep]) {
    var faults = schema.faults()
    var result = self
    var steps: [CatalogStep] = []
    for object in schema.objects {
      if let position = result.tables.firstIndex(where: { $0.name == object.name }) {
        for rename in object.renames { result.tables[position].rename(rename, in: object, &steps) }
        if !unlisted.isEmpty { result.tables[position].retire(unlisted, with: object, &steps) }
        faults += result.extendTable(at: position, with: object, mayChangeKeys: mayChangeKeys, steps: &steps)
      } else {
        result.createTable(object, steps: &steps)
      }
    }
    if !result.hasSoundNumbers {
      faults.append(SchemaFault(type: "", property: nil, message: "the file has used up its numbers of types, properties or indexes"))
    }
    if !faults.isEmpty { throw CatalogConflict(faults: faults) }
    return (result, steps)
  }

  private mutating func createTable(_ object: ObjectSchema, steps: inout [CatalogStep]) {
    var table = TableEntry(id: TableID(nextTable), name: object.name, columns: [], indexes: [], nextProperty: 1)
    if object.isEmbedded { table.embedded = true }
    // `adopting` detects an overflow.
    nextTable &+= 1
    for property in object.properties { table.append(property) }
    steps.append(.createdTable(object.name))
    alignIndexes(of: &table, with: object, steps: &steps, quiet: true)
    alignTextIndexes(of: &table, with: object, steps: &steps, quiet: true)
    tables.append(table)
  }

  private mutating func extendTable(
    at position: Int, with object: ObjectSchema, mayChangeKeys: Bool, steps: inout [CatalogStep]
  ) -> [SchemaFault] {
    var faults: [SchemaFault] = []
    var table = tables[position]
    if table.isEmbedded != object.isEmbedded {
      let (stored, declared) = table.isEmbedded ? ("embedded", "a type of its own") : ("a type of its own", "embedded")
      faults.append(
        SchemaFault(
          type: object.name, property: nil, message: "is \(stored) in the file and declared as \(declared); that needs a migration"))
    }
    for property in object.properties {
      guard let at = table.columns.firstIndex(where: { $0.schema.name == property.name }) else {
        if property.isPrimaryKey, !mayChangeKeys {
          faults.append(
            SchemaFault(type: object.name, property: property.name, message: "is a new primary key; that needs a migration"))
          continue
        }
        table.append(property)
        steps.append(.addedProperty(type: object.name, property: property.name))
        continue
      }
      let stored = table.columns[at].schema
      if let reason = stored.conflict(with: property, mayChangeKeys: mayChangeKeys) {
        faults.append(SchemaFault(type: object.name, property: property.name, message: reason))
      } else if stored != property {
        // Objects stored before keep their absent value: the file's first default stays.
        var updated = property
        updated.defaultValue = stored.defaultValue
        if updated != stored {
          table.columns[at].schema = updated
        }
        // The indexes' own steps report these marks.
        updated.isIndexed = stored.isIndexed
        updated.isUnique = stored.isUnique
        updated.isFullText = stored.isFullText
        // Whoever opens the file checks an enum's cases; readers are not affected by them.
        updated.cases = stored.cases
        if updated != stored {
          steps.append(.updatedProperty(type: object.name, property: property.name))
        }
      }
    }
    alignIndexes(of: &table, with: object, steps: &steps, quiet: false)
    alignTextIndexes(of: &table, with: object, steps: &steps, quiet: false)
    tables[position] = table
    return faults
  }

  private mutating func alignIndexes(
    of table: inout TableEntry, with object: ObjectSchema, steps: inout [CatalogStep], quiet: Bool
  ) {
    let wanted = object.allIndexes.compactMap { index -> (IndexSchema, [PropertyID])? in
      let ids = index.properties.compactMap { table[$0]?.id }
      return ids.count == index.properties.count ? (index, ids) : nil
    }
    let columns = table.columns
    table.indexes.removeAll { entry in
      let keep = wanted.contains { $0.1 == entry.properties && $0.0.isUnique == entry.isUnique }
      if !keep {
        steps.append(
          .removedIndex(
            type: object.name, properties: entry.properties.compactMap { id in columns.first { $0.id == id }?.schema.name },
            isUnique: entry.isUnique))
      }
      return !keep
    }
    for (index, ids) in wanted
    where !table.indexes.contains(where: { $0.properties == ids && $0.isUnique == index.isUnique }) {
      table.indexes.append(IndexEntry(id: IndexID(nextIndex), properties: ids, isUnique: index.isUnique))
      nextIndex &+= 1
      if !quiet {
        steps.append(.addedIndex(type: object.name, properties: index.properties, isUnique: index.isUnique))
      }
    }
  }
}

extension Catalog {
  /// Adds and removes indexes of words as the properties require, by the rules of this build.
  private mutating func alignTextIndexes(
    of table: inout TableEntry, with object: ObjectSchema, steps: inout [CatalogStep], quiet: Bool
  ) {
    let wanted = object.properties.filter(\.isFullText).compactMap { table[$0.name]?.id }
    for index in table.textIndexes where !wanted.contains(index.property) || index.rules != TextWords.rules {
      table.textIndexes.removeAll { $0.id == index.id }
      let name = table[index.property]?.schema.name
      steps.append(.removedIndex(type: object.name, properties: name.map { [$0] } ?? [], isUnique: false))
    }
    for property in wanted where !table.textIndexes.contains(where: { $0.property == property }) {
      table.textIndexes.append(TextIndexEntry(id: IndexID(nextIndex), property: property, rules: TextWords.rules))
      nextIndex &+= 1
      if !quiet, let name = table[property]?.schema.name {
        steps.append(.addedIndex(type: object.name, properties: [name], isUnique: false))
      }
    }
  }
}

extension TableEntry {
  fileprivate mutating func append(_ property: PropertySchema) {
    columns.append(ColumnEntry(id: PropertyID(nextProperty), schema: property))
    nextProperty &+= 1
  }
}

extension PropertySchema {
  /// Why objects stored under `self` cannot be read under `other`; nil if they can. `mayChangeKeys`: a primary key is a mark of
  /// the property and a unique index, which a migration may add and remove.
  func conflict(with other: PropertySchema, mayChangeKeys: Bool = false) -> String? {
    if isInverse && other.isInverse { return nil }
    if kind != other.kind { return "is stored as \(kind.label) and declared as \(other.kind.label); that needs a migration" }
    if isOptional != other.isOptional {
      return "is stored as \(isOptional ? "optional" : "required") and declared as "
        + "\(other.isOptional ? "optional" : "required"); that needs a migration"
    }
    if target != other.target {
      return "points to \(target ?? "?") in the file and to \(other.target ?? "?") in the program; that needs a migration"
    }
    if isPrimaryKey != other.isPrimaryKey, !mayChangeKeys {
      return "\(isPrimaryKey ? "is" : "is not") the primary key in the file; changing that needs a migration"
    }
    return nil
  }
}

extension PropertyKind {
  /// A readable form: `string`, `list of link`.
  public var label: String {
    switch self {
    case .scalar(let type): type.rawValue
    case .list(let type): "list of \(type.rawValue)"
    case .set(let type): "set of \(type.rawValue)"
    case .map(let type): "map of \(type.rawValue)"
    case .linkingObjects(let origin, let property): "inverse of \(origin).\(property)"
    }
  }
}
