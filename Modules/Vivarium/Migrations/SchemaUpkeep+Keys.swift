import StorageInterface
import StoreValues

extension SchemaUpkeep {
  /// Throws `.primaryKeyExists`, naming both objects, if two would have the same new primary key. The index would detect them too,
  /// but not name both.
  func checkKeys(_ old: Catalog, _ new: Catalog, _ reading: any StorageReading) throws(StoreError) {
    for table in new.tables {
      guard let key = table.primaryKey, old[table.id] != nil, old[table.column(key.id)]?.schema.isPrimaryKey != true else { continue }
      var seen: [[UInt8]: ObjectKey] = [:]
      var pair: (first: ObjectKey, second: ObjectKey, value: Value)?
      try storing { () throws(StorageError) in
        try reading.visitValues(of: table.column(key.id)) { object, value in
          if pair != nil { return }
          if let first = seen.updateValue(object, forKey: value.orderKey) { pair = (first, object, value) }
        }
      }
      guard let pair else { continue }
      throw StoreError(
        .primaryKeyExists,
        "The \(table.name) objects #\(pair.first.rawValue) and #\(pair.second.rawValue) would have the same primary key, "
          + "\(key.schema.name) \(pair.value).",
        remedy: "Give each its own in the migration, or delete one of them there.",
        details: [
          "type": table.name, "property": key.schema.name, "key": "\(pair.value)", "object": "\(pair.second.rawValue)",
          "conflictingKey": "\(pair.first.rawValue)",
        ])
    }
  }
}
