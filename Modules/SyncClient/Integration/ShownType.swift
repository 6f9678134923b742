import StorageInterface
import StoreValues
import SyncModel

/// What integration needs to know of a type for every operation, looked up once per write.
final class ShownType {
  /// A single-valued property that can be written.
  struct Property {
    let id: ColumnID
    /// The property's index in a `RowBuffer`.
    let slot: Int
    let column: ColumnEntry
  }

  let table: TableEntry
  let primaryIndex: IndexID?
  private var properties: [Name: Property] = [:]

  init(_ table: TableEntry, _ catalog: Catalog) {
    self.table = table
    primaryIndex = table.primaryIndex?.id
    for (slot, column) in table.columns.enumerated() where ShownType.isSettable(column, catalog) {
      properties[Name(column.schema.name)] = Property(id: table.column(column.id), slot: slot, column: column)
    }
  }

  /// Returns nil for all other properties.
  func property(_ name: Name) -> Property? { properties[name] }

  /// The primary key never changes, and derived values are not written.
  static func isSettable(_ column: ColumnEntry, _ catalog: Catalog) -> Bool {
    column.schema.isScalar && !column.schema.isPrimaryKey && column.schema.derivation == nil && embedded(column, catalog) == nil
  }

  /// The table that a column embeds; nil for other columns.
  static func embedded(_ column: ColumnEntry, _ catalog: Catalog) -> TableEntry? {
    guard column.schema.isRelationship, let table = column.schema.target.flatMap({ catalog[$0] }), table.isEmbedded else { return nil }
    return table
  }
}

/// The types of a write, and the place of the object looked up last.
final class ShownTypes {
  private var types: [Name: ShownType] = [:]
  private var last: (object: ObjectIdentity, place: ObjectLink)?

  /// Returns nil for a class that the file does not have, or has only as an embedded type.
  func type(of name: Name, _ catalog: @autoclosure () -> Catalog) -> ShownType? {
    if let known = types[name] { return known }
    let catalog = catalog()
    guard let table = catalog[name.text], table.name == name.text, !table.isEmbedded else { return nil }
    let type = ShownType(table, catalog)
    types[name] = type
    return type
  }

  func place(of object: ObjectIdentity) -> ObjectLink? {
    if let last, last.object == object { return last.place }
    return nil
  }

  func note(_ object: ObjectIdentity, at place: ObjectLink) { last = (object, place) }

  func forget() { last = nil }
}
