import StorageInterface
import StoreValues

/// A catalog with the lookups that every call needs. Shared by all transactions of its versions.
final class CatalogMap: Sendable {
  let catalog: Catalog
  /// Indexed by table number and by index number.
  private let tables: [TableShapes?]
  private let owners: [TableID?]

  init(_ catalog: Catalog) {
    self.catalog = catalog
    var tables: [TableShapes?] = []
    var owners: [TableID?] = []
    for table in catalog.tables {
      CatalogMap.put(TableShapes(table), at: Int(table.id.rawValue), in: &tables)
      for index in table.indexes { CatalogMap.put(table.id, at: Int(index.id.rawValue), in: &owners) }
      for index in table.textIndexes { CatalogMap.put(table.id, at: Int(index.id.rawValue), in: &owners) }
    }
    self.tables = tables
    self.owners = owners
  }

  private static func put<T>(_ value: T, at i: Int, in values: inout [T?]) {
    while values.count <= i { values.append(nil) }
    values[i] = value
  }

  func table(_ id: TableID) -> TableEntry? { shapes(id)?.entry }

  func shapes(_ id: TableID) -> TableShapes? {
    let i = Int(id.rawValue)
    return i < tables.count ? tables[i] : nil
  }

  func table(of index: IndexID) -> TableID? {
    let i = Int(index.rawValue)
    return i < owners.count ? owners[i] : nil
  }
}
