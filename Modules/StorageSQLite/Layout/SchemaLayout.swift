import StorageInterface
import StoreValues

/// A catalog with all SQL names derived from it. Names are a function of the catalog alone, so every program that opens the
/// file derives the same ones.
final class SchemaLayout: Sendable {
  let catalog: Catalog
  let tables: [TableLayout]
  private let byTable: [TableLayout?]
  private let byIndex: [IndexLayout?]

  init(_ catalog: Catalog) {
    self.catalog = catalog
    var names = NameSpace.file
    let tableNames = catalog.tables.map { names.name($0.name, number: $0.id.rawValue) }
    tables = zip(catalog.tables, tableNames).map { SchemaLayout.table($0, name: $1, &names) }
    var byTable = [TableLayout?](repeating: nil, count: Int(tables.map(\.number).max() ?? 0) + 1)
    for table in tables { byTable[Int(table.number)] = table }
    self.byTable = byTable
    let indexes = tables.flatMap(\.indexes)
    var byIndex = [IndexLayout?](repeating: nil, count: Int(indexes.map(\.entry.id.rawValue).max() ?? 0) + 1)
    for index in indexes { byIndex[Int(index.entry.id.rawValue)] = index }
    self.byIndex = byIndex
  }

  private static func table(_ entry: TableEntry, name: String, _ names: inout NameSpace) -> TableLayout {
    var columnNames = NameSpace.columns
    let slots = entry.columns.map { column -> ColumnLayout in
      let property = column.schema
      let own = "\(name).\(property.name)"
      let columnName =
        property.isCollection
        ? names.name(own, number: column.id.rawValue) : columnNames.name(property.name, number: column.id.rawValue)
      let backlinks =
        property.isStored && property.valueType?.mayLink == true
        ? names.name("\(own) links", number: column.id.rawValue) : nil
      let order =
        property.isScalar && property.valueType?.ordersByBytes == false
        ? columnNames.name("\(property.name) order", number: column.id.rawValue) : nil
      return ColumnLayout(column, in: entry, name: columnName, orderName: order, backlinkIndex: backlinks)
    }
    let indexes = entry.indexes.map { index in
      let columns = index.properties.compactMap { id in slots.first { $0.id.property == id } }
      let parts = columns.map(\.entry.schema.name).joined(separator: ", ")
      let indexName = names.name("\(name) by \(parts)", number: index.id.rawValue)
      return IndexLayout(index, table: entry.id, tableName: name.quoted, name: indexName, columns: columns)
    }
    return TableLayout(entry, name: name, slots: slots, indexes: indexes)
  }
}

extension SchemaLayout {
  @inline(__always) func table(_ id: TableID) throws(StorageError) -> TableLayout {
    let number = Int(id.rawValue)
    if number < byTable.count, let table = byTable[number] { return table }
    throw .misuse("There is no table \(id.rawValue).")
  }

  @inline(__always) func column(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    if let column = try table(id.table)[id.property] { return column }
    throw .misuse("There is no column \(id.property.rawValue) in table \(id.table.rawValue).")
  }

  @inline(__always) func scalar(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    let column = try column(id)
    if column.kind == .scalar { return column }
    throw .misuse("\(column.label) is no scalar.")
  }

  func wordColumn(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    let column = try scalar(id)
    if column.cell.isWord { return column }
    throw .misuse("\(column.label) has bytes, not words.")
  }

  func bytesColumn(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    let column = try scalar(id)
    if !column.cell.isWord { return column }
    throw .misuse("\(column.label) has words, not bytes.")
  }

  func list(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    let column = try column(id)
    if column.kind == .list { return column }
    throw .misuse("\(column.label) is no list.")
  }

  func set(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    let column = try column(id)
    if column.kind == .set { return column }
    throw .misuse("\(column.label) is no set.")
  }

  func map(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    let column = try column(id)
    if column.kind == .map { return column }
    throw .misuse("\(column.label) is no map.")
  }

  func collection(_ id: ColumnID) throws(StorageError) -> ColumnLayout {
    let column = try column(id)
    if column.isCollection { return column }
    throw .misuse("\(column.label) is no collection.")
  }

  func index(_ id: IndexID) throws(StorageError) -> IndexLayout {
    let number = Int(id.rawValue)
    if number < byIndex.count, let index = byIndex[number] { return index }
    throw .misuse("There is no index \(id.rawValue).")
  }
}
