import StorageInterface
import StoreValues

/// The statements that migrate the tables of one layout to another.
///
/// Adding a column rewrites no row. Indexes and triggers with changed text are recreated.
struct SchemaChange {
  private(set) var statements: [String] = []
  /// The index definitions among the statements, for errors when they are filled.
  private(set) var indexes: [String: IndexLayout] = [:]

  init(from old: SchemaLayout, to new: SchemaLayout) {
    let before = Dictionary(uniqueKeysWithValues: old.tables.map { ($0.id, $0) })
    let after = Dictionary(uniqueKeysWithValues: new.tables.map { ($0.id, $0) })
    let oldAccessories = SchemaChange.accessories(of: old)
    let newAccessories = SchemaChange.accessories(of: new)
    for (name, old) in oldAccessories.sorted(by: { $0.key < $1.key })
    where newAccessories[name]?.definition != old.definition {
      // Files of older builds have fewer triggers.
      statements.append("DROP \(old.kind) \(old.kind == "TRIGGER" ? "IF EXISTS " : "")\(name)")
    }
    if new.catalog.hasSideEntries, !old.catalog.hasSideEntries { statements.append(SideTable.definition) }
    for table in old.tables where after[table.id] == nil { drop(table) }
    // Before others are renamed, which may take their names.
    for table in new.tables {
      guard let old = before[table.id] else { continue }
      for column in old.slots where table[column.id.property] == nil { statements += SchemaChange.sideDrops(column) }
    }
    renameTables(from: before, to: new)
    for table in new.tables {
      if let old = before[table.id] { alter(old, table) } else { create(table) }
    }
    for table in new.tables {
      for index in table.indexes { indexes[index.definition] = index }
    }
    // Indexes before triggers, each in name order, so that equal schemas give equal files.
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
    for column in table.slots { statements += table.sideDefinitions(column) }
    statements.append(
      "INSERT INTO _vivarium_types (id, name, objects, last_key) "
        + "VALUES (\(table.number), \(table.entry.name.sqlLiteral), 0, 0)")
  }

  private mutating func drop(_ table: TableLayout) {
    for column in table.slots { statements += SchemaChange.sideDrops(column) }
    statements.append("DROP TABLE \(table.name)")
    statements.append("DELETE FROM _vivarium_types WHERE id = \(table.number)")
  }

  /// The statements that drop a property's own tables.
  private static func sideDrops(_ column: ColumnLayout) -> [String] {
    (column.isCollection ? ["DROP TABLE \(column.name)"] : [])
      + (column.linksInside ? column.backlinkIndex.map { ["DROP TABLE \($0)"] } ?? [] : [])
  }

  private mutating func alter(_ old: TableLayout, _ new: TableLayout) {
    if old.entry.name != new.entry.name {
      statements.append("UPDATE _vivarium_types SET name = \(new.entry.name.sqlLiteral) WHERE id = \(new.number)")
    }
    for column in old.slots where column.kind == .scalar && new[column.id.property] == nil {
      for name in [column.name, column.orderName].compactMap(\.self) { statements.append("ALTER TABLE \(new.name) DROP COLUMN \(name)") }
    }
    var renames: [Rename] = []
    for (_, column) in new.scalars {
      guard let stored = old[column.id.property] else { continue }
      renames.append((stored.name, column.name))
      if let old = stored.orderName, let now = column.orderName { renames.append((old, now)) }
    }
    rename(renames) { "ALTER TABLE \(new.name) RENAME COLUMN \($0) TO \($1)" }
    for column in new.slots where old[column.id.property] == nil {
      if column.kind == .scalar { statements += column.additions(to: new.name) }
      statements += new.sideDefinitions(column)
    }
  }
}

extension SchemaChange {
  private typealias Rename = (old: String, new: String)

  /// Renames the tables of types and of properties.
  private mutating func renameTables(from before: [TableID: TableLayout], to new: SchemaLayout) {
    var renames: [Rename] = []
    for table in new.tables {
      guard let old = before[table.id] else { continue }
      renames.append((old.name, table.name))
      for column in table.slots {
        guard let stored = old[column.id.property] else { continue }
        if column.isCollection { renames.append((stored.name, column.name)) }
        if column.linksInside, let old = stored.backlinkIndex, let now = column.backlinkIndex { renames.append((old, now)) }
      }
    }
    rename(renames) { "ALTER TABLE \($0) RENAME TO \($1)" }
  }

  /// Renames in an order in which each name is free when it is given. Where there is none, as for a name of which only the case
  /// changes, one takes another name meanwhile.
  private mutating func rename(_ renames: [Rename], _ text: (String, String) -> String) {
    var left = renames.filter { $0.old != $0.new }
    while !left.isEmpty {
      let taken = left.map { $0.old.lowercased() }
      if let free = left.firstIndex(where: { !taken.contains($0.new.lowercased()) }) {
        statements.append(text(left[free].old, left[free].new))
        left.remove(at: free)
      } else {
        let meanwhile = "_vivarium renamed".quoted
        statements.append(text(left[0].old, meanwhile))
        left[0].old = meanwhile
      }
    }
  }
}

extension String {
  /// An SQL string literal, whatever the string contains.
  var sqlLiteral: String {
    if utf8.contains(0) { return "CAST(x'" + utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "' AS TEXT)" }
    return "'" + doubling("'") + "'"
  }
}
