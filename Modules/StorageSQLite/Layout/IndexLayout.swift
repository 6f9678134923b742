import StorageInterface
import StoreValues

/// An index of a type: its name and its sort terms.
final class IndexLayout: Sendable {
  let entry: IndexEntry
  let table: TableID
  /// Quoted.
  let tableName: String
  /// Quoted.
  let name: String
  let columns: [ColumnLayout]
  /// Unique, over one integer column.
  let isDirect: Bool

  init(_ entry: IndexEntry, table: TableID, tableName: String, name: String, columns: [ColumnLayout]) {
    self.entry = entry
    self.table = table
    self.tableName = tableName
    self.name = name.quoted
    self.columns = columns
    isDirect = entry.isUnique && columns.count == 1 && columns[0].cell.physical == .integer
      && ![.bool, .link, .date].contains(columns[0].cell.type)
  }

  var definition: String {
    let terms = columns.flatMap(\.orderTerms).joined(separator: ", ")
    return "CREATE \(entry.isUnique ? "UNIQUE " : "")INDEX \(name) ON \(tableName) (\(terms))"
  }
}
