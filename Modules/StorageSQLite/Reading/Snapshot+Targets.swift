import StorageInterface
import StoreValues

extension Snapshot: LinkedTargetReading {
  final func firstTarget(
    from key: ObjectKey, in table: TableID, through id: ColumnID
  ) throws(StorageError) -> ObjectKey? {
    try enter()
    defer { leave() }
    let column = try layout.column(id)
    guard let links = column.backlinkIndex else { throw .misuse("\(column.label) is no relationship.") }
    if !column.linksInside, catalog[table]?.name != column.entry.schema.target { return nil }
    let statement = try connection.take(StatementKey(.firstTarget, id.table.rawValue, id.property.rawValue)) {
      if column.linksInside {
        return "SELECT target FROM \(links) WHERE type = ? AND target >= ? AND count > 0 ORDER BY target LIMIT 1"
      }
      let (value, place) = column.isCollection ? ("value", column.name) : (column.name, layout.tableName(column))
      return "SELECT \(value) FROM \(place) INDEXED BY \(links) WHERE \(value) >= ? ORDER BY \(value) LIMIT 1"
    }
    defer { connection.finish(statement) }
    if column.linksInside { statement.bind(1, Int64(table.rawValue)) }
    statement.bind(column.linksInside ? 2 : 1, key.rawValue)
    // What other programs may have put there instead of a key is behind all keys.
    guard try connection.step(statement, "find a linked object"), statement.isInteger(0) else { return nil }
    return ObjectKey(statement.int64(0))
  }
}
