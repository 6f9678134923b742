import StorageInterface
import StoreValues

/// The tables and indexes of one type: its own table, its collections' tables, its indexes.
final class TableLayout: Sendable {
  let entry: TableEntry
  /// Quoted.
  let name: String
  /// Indexed by slot of a `RowBuffer`.
  let slots: [ColumnLayout]
  /// Indexed by property number.
  private let columns: [ColumnLayout?]
  /// Scalars with their slots: the columns of a row, in order.
  let scalars: [(slot: Int, column: ColumnLayout)]
  let collections: [ColumnLayout]
  /// Columns of any kind whose values have links inside.
  let mixed: [(slot: Int, column: ColumnLayout)]
  let indexes: [IndexLayout]
  /// Indexed by property number: whether it is a word, not a link, in no index. Writing such a word can be deferred.
  private let areUnindexedWords: [Bool]

  init(_ entry: TableEntry, name: String, slots: [ColumnLayout], indexes: [IndexLayout]) {
    self.entry = entry
    self.name = name.quoted
    self.slots = slots
    self.indexes = indexes
    var columns = [ColumnLayout?](repeating: nil, count: Int(entry.columns.map(\.id.rawValue).max() ?? 0) + 1)
    for column in slots { columns[Int(column.id.property.rawValue)] = column }
    self.columns = columns
    scalars = slots.enumerated().filter { $0.element.kind == .scalar }.map { ($0.offset, $0.element) }
    collections = slots.filter(\.isCollection)
    areUnindexedWords = columns.map { column in
      guard let column, column.kind == .scalar, column.cell.isWord, column.cell.type != .link else { return false }
      return !indexes.contains { $0.columns.contains { $0 === column } }
    }
    mixed = slots.enumerated().filter { $0.element.linksInside }.map { ($0.offset, $0.element) }
  }

  var id: TableID { entry.id }
  var number: UInt16 { entry.id.rawValue }

  @inline(__always) subscript(property: PropertyID) -> ColumnLayout? {
    let number = Int(property.rawValue)
    return number < columns.count ? columns[number] : nil
  }

  func isUnindexedWord(_ property: PropertyID) -> Bool {
    let number = Int(property.rawValue)
    return number < areUnindexedWords.count && areUnindexedWords[number]
  }

  var insertText: String {
    let names = ["_key"] + scalars.flatMap { [$0.column.name, $0.column.orderName].compactMap(\.self) }
    return "INSERT INTO \(name) (\(names.joined(separator: ", "))) "
      + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"
  }

  func objectDeleted(_ key: ObjectKey) -> StorageError {
    StorageError(.objectDeleted, .statement, "There is no object \(key) in '\(entry.name)'.")
  }
}
