import StoreValues

extension StorageReading {
  /// Calls `body` with every value of a stored column, object by object: a scalar, or each element of a collection.
  package func visitValues(of column: ColumnID, _ body: (ObjectKey, Value) -> Void) throws(StorageError) {
    guard let schema = catalog[column]?.schema, let type = schema.valueType else { return }
    if schema.isScalar {
      return try scan(column.table, [column.property], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) { body(batch.key(at: row), batch.columns[0].value(at: row, as: type)) }
        return .proceed
      }
    }
    var keys: [ObjectKey] = []
    try scan(column.table, [], from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row)) }
      return .proceed
    }
    for key in keys { for value in try values(column, key, 0..<Int.max) { body(key, value) } }
  }

  /// How many objects have a value in a column that differs from its absent value, or elements.
  package func holders(of column: ColumnID) throws(StorageError) -> Int {
    guard let entry = catalog[column] else { return 0 }
    let (isScalar, absent) = (entry.schema.isScalar, entry.absentValue)
    var (count, last) = (0, ObjectKey(0))
    try visitValues(of: column) { key, value in
      if isScalar ? value.isNull || value == absent : key == last { return }
      (count, last) = (count + 1, key)
    }
    return count
  }

  /// The values of an enum's column that are not among its cases, and how many objects have each.
  package func strays(in column: ColumnID, cases: [DefaultValue]) throws(StorageError) -> [(value: Value, objects: Int)] {
    var found: [(value: Value, objects: Int, last: ObjectKey)] = []
    try visitValues(of: column) { key, value in
      guard let raw = DefaultValue(value), !cases.contains(raw) else { return }
      if let at = found.firstIndex(where: { $0.value == value }) {
        if found[at].last != key { found[at] = (value, found[at].objects + 1, key) }
      } else {
        found.append((value, 1, key))
      }
    }
    return found.map { ($0.value, $0.objects) }
  }
}
