import Storage
import Values

extension Snapshot {
  final func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    throw .misuse("Sets and maps are not supported yet.")
  }

  final func sources(
    of target: ObjectLink, through id: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    let column = try layout.column(id)
    guard column.isRelationship else { throw .misuse("\(column.label) is no relationship.") }
    if catalog[target.table]?.name == column.entry.schema.target { try sources(of: target.key, through: id, body) }
  }
}
