import Storage
import Values

/// One index of a type: its name and the terms it is sorted by.
final class IndexLayout: Sendable {
  let entry: IndexEntry
  let table: TableID
  /// Quoted.
  let tableName: String
  /// Quoted.
  let name: String
  let columns: [ColumnLayout]

  init(_ entry: IndexEntry, table: TableID, tableName: String, name: String, columns: [ColumnLayout]) {
    self.entry = entry
    self.table = table
    self.tableName = tableName
    self.name = name.quoted
    self.columns = columns
  }

  var definition: String {
    let terms = columns.flatMap(\.orderTerms).joined(separator: ", ")
    return "CREATE \(entry.isUnique ? "UNIQUE " : "")INDEX \(name) ON \(tableName) (\(terms))"
  }
}
