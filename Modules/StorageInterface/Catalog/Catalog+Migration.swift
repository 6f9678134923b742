import StoreValues

/// The effect of a migration on a catalog, and the remaining work on the objects.
public struct CatalogMigration: Sendable {
  /// A property that needs a new column: its values must be moved from the old one.
  public struct Move: Sendable, Hashable {
    /// The type's name after the migration.
    public var type: String
    /// The property's name.
    public var property: String
    /// The old column.
    public var from: ColumnID
    /// The new column.
    public var to: ColumnID
  }

  /// The catalog while objects are migrated: it has every new property, but no new indexes yet.
  public var working: Catalog
  /// The catalog after the migration.
  public var finished: Catalog
  /// Properties that keep their name but change their column.
  public var moves: [Move] = []
  /// Columns that are no longer used. They keep their number and must be emptied.
  public var retired: [ColumnID] = []
  /// Types that become embedded.
  public var embedded: [String] = []
  /// The steps, for people and for the report.
  public var steps: [CatalogStep] = []
  /// Columns that must be replaced although the program has their property.
  fileprivate var changed: [(from: ColumnID, type: String, property: String)] = []

  fileprivate init(from old: Catalog) {
    working = old
    finished = old
  }
}

extension Catalog {
  /// The version of the program's schema that wrote the file; 0 if none was given.
  public var schemaVersion: UInt64 {
    get { givenSchemaVersion ?? 0 }
    set { givenSchemaVersion = newValue == 0 ? nil : newValue }
  }

  /// The named migrations that were run, in order.
  public var completedMigrations: [CompletedMigration] {
    get { givenMigrations ?? [] }
    set { givenMigrations = newValue.isEmpty ? nil : newValue }
  }

  /// Arbitrary changes that bring the file to `schema`. A property that changes its kind, its target or its optionality gets a
  /// new column; removed properties are retired, except those that `unlisted` keeps; types that are not listed stay as they
  /// are. Pure. Throws only the schema's own faults.
  public func migrating(
    to schema: Schema, renamedTypes: [String: String] = [:], unlisted: [String: UnlistedProperty] = [:]
  ) throws(CatalogConflict) -> CatalogMigration {
    let faults = schema.faults()
    if !faults.isEmpty { throw CatalogConflict(faults: faults) }
    var migration = CatalogMigration(from: self)
    migration.working.rename(renamedTypes, &migration.steps)
    for object in schema.objects {
      if let at = migration.working.tables.firstIndex(where: { $0.name == object.name }) {
        for rename in object.renames { migration.working.tables[at].rename(rename, in: object, &migration.steps) }
        migration.align(at, with: object, unlisted)
      }
    }
    // The rest is additive, except for indexes: they are filled once the objects are migrated.
    let (finished, steps) = try migration.working.adopting(schema, unlisted: [:], mayChangeKeys: true)
    migration.finished = finished
    migration.steps += steps
    migration.working = finished.withoutIndexes(unlessIn: self).withKeys(of: self)
    migration.retired = finished.retired(since: self)
    migration.findMoves()
    return migration
  }

  /// The catalog with the primary keys of `known`: a new one has no index yet, and is set like any other property.
  private func withKeys(of known: Catalog) -> Catalog {
    var result = self
    for at in result.tables.indices {
      guard let before = known[result.tables[at].id] else { continue }
      for slot in result.tables[at].columns.indices {
        let column = result.tables[at].columns[slot]
        if before[column.id]?.schema.isPrimaryKey != true { result.tables[at].columns[slot].schema.isPrimaryKey = false }
      }
    }
    return result
  }

  /// The catalog without the indexes that the types do not have in `known`: these are filled once the objects are migrated.
  package func withoutIndexes(unlessIn known: Catalog) -> Catalog {
    var result = self
    for at in result.tables.indices {
      guard let before = known[result.tables[at].id] else { continue }
      result.tables[at].indexes.removeAll { !before.indexes.contains($0) }
      result.tables[at].textIndexes.removeAll { !before.textIndexes.contains($0) }
    }
    return result
  }

  private mutating func rename(_ renamedTypes: [String: String], _ steps: inout [CatalogStep]) {
    for (old, new) in renamedTypes.sorted(by: { $0.key < $1.key }) {
      guard let at = tables.firstIndex(where: { $0.name == old }), self[new] == nil else { continue }
      tables[at].name = new
      steps.append(.renamedType(from: old, to: new))
      for table in tables.indices {
        for column in tables[table].columns.indices {
          if tables[table].columns[column].schema.target == old { tables[table].columns[column].schema.target = new }
        }
      }
    }
  }
}

extension CatalogMigration {
  /// Retires the columns of a table that must be replaced, and notes those with values to move.
  fileprivate mutating func align(_ at: Int, with object: ObjectSchema, _ unlisted: [String: UnlistedProperty]) {
    var table = working.tables[at]
    if table.isEmbedded != object.isEmbedded {
      table.embedded = object.isEmbedded
      if object.isEmbedded { embedded.append(object.name) }
      steps.append(.changedEmbedding(type: object.name, isEmbedded: object.isEmbedded))
    }
    for slot in table.columns.indices where !table.columns[slot].isRetired {
      let stored = table.columns[slot].schema
      if let wanted = object.property(named: stored.name) {
        if stored.conflict(with: wanted, mayChangeKeys: true) == nil { continue }
        if stored.isStored, wanted.isStored { changed.append((table.column(table.columns[slot].id), object.name, stored.name)) }
      } else if unlisted["\(object.name).\(stored.name)"] == .keep {
        continue
      }
      table.retire(slot, of: object.name, &steps)
    }
    working.tables[at] = table
  }

  /// Determines the moves, now that the new columns exist.
  fileprivate mutating func findMoves() {
    moves = changed.compactMap { from, type, property in
      guard let table = finished[type], let target = table[property] else { return nil }
      return Move(type: type, property: property, from: from, to: table.column(target.id))
    }
  }
}

extension ColumnEntry {
  /// Whether a migration removed the property. The column stays, empty, because columns are never removed from a table.
  public var isRetired: Bool { schema.name.hasPrefix("~") }

  mutating func retire() {
    schema.name = "~\(id.rawValue)"
    schema.isPrimaryKey = false
    schema.isIndexed = false
    schema.isUnique = false
    schema.isFullText = false
    schema.deleteRule = nil
    schema.derivation = nil
    schema.cases = nil
  }
}

extension TableEntry {
  /// The columns that are properties of the schema: without retired ones.
  public var currentColumns: [ColumnEntry] { columns.filter { !$0.isRetired } }
}

/// A named migration that was run on a file.
public struct CompletedMigration: Sendable, Hashable, Codable {
  /// Its name in the program: it does not run again on this file.
  public var name: String
  /// Milliseconds since 1970.
  public var timeMilliseconds: Int64

  public init(name: String, timeMilliseconds: Int64) {
    self.name = name
    self.timeMilliseconds = timeMilliseconds
  }
}
