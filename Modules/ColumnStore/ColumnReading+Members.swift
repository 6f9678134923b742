import Storage
import Values

extension ColumnReading {
  final func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    throw .misuse("Sets and maps are not supported yet.")
  }

  final func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try checkOpen()
    let entry = try table(column.table).entry
    guard let schema = entry[column.property]?.schema, schema.isRelationship else {
      throw .misuse("Column \(column.property.rawValue) of '\(entry.name)' is no relationship.")
    }
    if catalog[target.table]?.name == schema.target { try sources(of: target.key, through: column, body) }
  }
}
