import Storage
import Values

/// A catalog with the look-ups that every call needs. Shared by all transactions of its versions.
final class CatalogMap: Sendable {
  let catalog: Catalog
  private let tables: [UInt16: TableShapes]
  private let owners: [UInt16: TableID]

  init(_ catalog: Catalog) {
    self.catalog = catalog
    tables = Dictionary(catalog.tables.map { ($0.id.rawValue, TableShapes($0)) }, uniquingKeysWith: { $1 })
    owners = Dictionary(
      catalog.tables.flatMap { table in table.indexes.map { ($0.id.rawValue, table.id) } }, uniquingKeysWith: { $1 })
  }

  func table(_ id: TableID) -> TableEntry? { tables[id.rawValue]?.entry }
  func shapes(_ id: TableID) -> TableShapes? { tables[id.rawValue] }
  func table(of index: IndexID) -> TableID? { owners[index.rawValue] }
}
