import StorageInterface
import StoreValues

extension ColumnReading {
  final func firstTarget(
    from key: ObjectKey, in table: TableID, through column: ColumnID
  ) throws(StorageError) -> ObjectKey? {
    try checkOpen()
    let (owners, position) = try findBacklinks(column)
    guard let schema = owners.entry[column.property]?.schema else { return nil }
    let isMixed = schema.valueType == .mixed
    if isMixed {
      guard key.rawValue <= ObjectLink.keyMax else { return nil }
    } else if catalog[table]?.name != schema.target {
      return nil
    }
    // Keys begin at 1, and a mixed link's word is its table and its key.
    let from = ObjectKey(max(key.rawValue, 1))
    let word = isMixed ? ObjectLink(table, from).word : from.rawValue
    guard let found = try firstWord(from: UInt64(bitPattern: word) ^ (1 << 63), owners, position) else { return nil }
    let target = Int64(bitPattern: found ^ (1 << 63))
    if !isMixed { return ObjectKey(target) }
    return target > ObjectLink(table, ObjectKey(ObjectLink.keyMax)).word ? nil : ObjectKey(target & ObjectLink.keyMax)
  }

  /// The least word of an index, not below another, that has entries, or had some that this write has added or removed.
  private func firstWord(from word: UInt64, _ table: TableState, _ position: Int) throws(StorageError) -> UInt64? {
    let stored = try reader(table, position).firstWord(from: word)
    guard let edits = try edits(of: table, position), let edited = edits.firstWord(from: word) else { return stored }
    return min(stored ?? .max, edited)
  }

  /// The backlinks of a column.
  final func findBacklinks(_ column: ColumnID) throws(StorageError) -> (TableState, Int) {
    let table = try table(column.table)
    guard let position = table.indexes.firstIndex(where: { $0.reference == .backlinks(column) }) else {
      throw .misuse("Column \(column.property.rawValue) of '\(table.entry.name)' is no relationship.")
    }
    return (table, position)
  }
}
