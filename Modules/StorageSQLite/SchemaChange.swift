import Storage
import Values

/// The statements that turn the tables of one layout into those of another.
///
/// Adding a column rewrites no row. Indexes and triggers whose text differs are made anew.
struct SchemaChange {
  private(set) var statements: [String] = []
  /// Index definitions among the statements, for errors while they are filled.
  private(set) var indexes: [String: IndexLayout] = [:]

  init(from old: SchemaLayout, to new: SchemaLayout) {
    let before = Dictionary(uniqueKeysWithValues: old.tables.map { ($0.id, $0) })
    let after = Dictionary(uniqueKeysWithValues: new.tables.map { ($0.id, $0) })
    let oldAccessories = SchemaChange.accessories(of: old)
    let newAccessories = SchemaChange.accessories(of: new)
    for (name, old) in oldAccessories.sorted(by: { $0.key < $1.key })
    where newAccessories[name]?.definition != old.definition {
      statements.append("DROP \(old.kind) \(name)")
    }
    for table in old.tables where after[table.id] == nil { drop(table) }
    for table in new.tables {
      if let old = before[table.id] { alter(old, table) } else { create(table) }
    }
    for table in new.tables {
      for index in table.indexes { indexes[index.definition] = index }
    }
    // Indexes before triggers, each in the order of their names, so that files are alike.
    for kind in ["INDEX", "TRIGGER"] {
      for (name, new) in newAccessories.sorted(by: { $0.key < $1.key })
      where new.kind == kind && oldAccessories[name]?.definition != new.definition {
        statements.append(new.definition)
      }
    }
  }

  private static func accessories(of layout: SchemaLayout) -> [String: (kind: String, definition: String)] {
    layout.tables.reduce(into: [:]) { all, table in all.merge(table.accessories) { first, _ in first } }
  }

  private mutating func create(_ table: TableLayout) {
    statements.append(table.definition)
    for list in table.lists { statements.append(table.listDefinition(list)) }
    statements.append(
      "INSERT INTO _vivarium_types (id, name, objects, last_key) "
        + "VALUES (\(table.number), \(table.entry.name.sqlLiteral), 0, 0)")
  }

  private mutating func drop(_ table: TableLayout) {
    for list in table.lists { statements.append("DROP TABLE \(list.name)") }
    statements.append("DROP TABLE \(table.name)")
    statements.append("DELETE FROM _vivarium_types WHERE id = \(table.number)")
  }

  private mutating func alter(_ old: TableLayout, _ new: TableLayout) {
    if old.name != new.name { statements.append("ALTER TABLE \(old.name) RENAME TO \(new.name)") }
    if old.entry.name != new.entry.name {
      statements.append("UPDATE _vivarium_types SET name = \(new.entry.name.sqlLiteral) WHERE id = \(new.number)")
    }
    for column in old.slots where new[column.id.property] == nil {
      switch column.kind {
      case .scalar: statements.append("ALTER TABLE \(new.name) DROP COLUMN \(column.name)")
      case .list: statements.append("DROP TABLE \(column.name)")
      case .inverse: break
      }
    }
    for column in new.slots {
      let stored = old[column.id.property]
      switch column.kind {
      case .scalar:
        if let stored {
          guard stored.name != column.name else { continue }
          statements.append("ALTER TABLE \(new.name) RENAME COLUMN \(stored.name) TO \(column.name)")
        } else {
          statements += column.additions(to: new.name)
        }
      case .list:
        if let stored {
          guard stored.name != column.name else { continue }
          statements.append("ALTER TABLE \(stored.name) RENAME TO \(column.name)")
        } else {
          statements.append(new.listDefinition(column))
        }
      case .inverse: break
      }
    }
  }
}

extension String {
  /// As an SQL text, whatever is in it.
  var sqlLiteral: String {
    if utf8.contains(0) { return "CAST(x'" + utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "' AS TEXT)" }
    return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}
