import StoreValues

/// What to do with a property that a file has and the program's models do not.
public enum UnlistedProperty: Sendable, Hashable {
  /// Keep it in the file with its values, unseen: for programs that share a file and each list the properties they need.
  case keep
  /// Remove it with its values.
  case remove
}

extension TableEntry {
  /// Renames a column to the program's name for it. Does nothing if the file already uses it, or never had the old name.
  mutating func rename(_ rename: PropertyRename, in object: ObjectSchema, _ steps: inout [CatalogStep]) {
    guard self[rename.to] == nil, object.property(named: rename.to) != nil,
      let at = columns.firstIndex(where: { $0.schema.name == rename.from && !$0.isRetired })
    else { return }
    columns[at].schema.name = rename.to
    steps.append(.renamedProperty(type: object.name, from: rename.from, to: rename.to))
  }

  /// Retires the columns that the program removes.
  mutating func retire(_ unlisted: [String: UnlistedProperty], with object: ObjectSchema, _ steps: inout [CatalogStep]) {
    for at in columns.indices where !columns[at].isRetired && object.property(named: columns[at].schema.name) == nil {
      guard unlisted["\(object.name).\(columns[at].schema.name)"] == .remove else { continue }
      retire(at, of: object.name, &steps)
    }
  }

  /// Removes a column's name and indexes. An inverse has no column: only its name is removed.
  mutating func retire(_ at: Int, of type: String, _ steps: inout [CatalogStep]) {
    let id = columns[at].id
    steps.append(.retiredProperty(type: type, property: columns[at].schema.name))
    columns[at].retire()
    indexes.removeAll { $0.properties.contains(id) }
    textIndexes.removeAll { $0.property == id }
  }
}

extension Catalog {
  /// The stored columns that this catalog has retired since an older one of the same file: they must be emptied.
  package func retired(since old: Catalog) -> [ColumnID] {
    tables.flatMap { table in
      table.columns.compactMap { column in
        let id = table.column(column.id)
        guard column.isRetired, column.schema.isStored, let before = old[id], !before.isRetired else { return nil }
        return id
      }
    }
  }

  /// The properties of a type that the file has and a schema does not list, except derived ones.
  package func unlisted(in object: ObjectSchema) -> [ColumnEntry] {
    (self[object.name]?.currentColumns ?? []).filter {
      $0.schema.isStored && $0.schema.derivation == nil && object.property(named: $0.schema.name) == nil
    }
  }
}
