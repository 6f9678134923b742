import StorageInterface
import StoreValues

/// The original values of the scalars that an open write has set, and the objects it has created. A value: a savepoint is a
/// copy.
struct PendingValues {
  fileprivate struct Place: Hashable {
    let column: ColumnID
    let key: Int64
  }

  fileprivate var old: [Place: Value] = [:]
  fileprivate var created: Set<ObjectPlace> = []
  /// Whether the commit's record includes them; otherwise they are only for the companion, which asks for some of them.
  let areRecorded: Bool

  init(areRecorded: Bool) { self.areRecorded = areRecorded }

  mutating func insert(_ object: ObjectPlace) { created.insert(object) }
}

extension RecordedTransaction {
  /// Call before a scalar is set: keeps its value from before the write.
  func noteValue(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) {
    let place = PendingValues.Place(column: column, key: key.rawValue)
    guard values?.old[place] == nil, values?.created.contains(ObjectPlace(table: column.table, key: key.rawValue)) == false
    else { return }
    let value = try transaction.value(column, key)
    values?.old[place] = value
  }

  /// Call before an object is deleted: keeps all its values.
  func noteValues(of table: TableID, _ key: ObjectKey) throws(StorageError) {
    if values?.created.remove(ObjectPlace(table: table, key: key.rawValue)) != nil { return }
    for column in scalars(of: table) { try noteValue(column, key) }
  }

  /// The original value of a scalar that this write has set; nil for others. For the write's companion.
  package func valueBefore(_ column: ColumnID, _ key: ObjectKey) -> Value? {
    values?.old[PendingValues.Place(column: column, key: key.rawValue)]
  }

  private func scalars(of table: TableID) -> [ColumnID] {
    guard let entry = transaction.catalog[table] else { return [] }
    return entry.columns.filter { $0.schema.isStored && $0.schema.isScalar }.map { entry.column($0.id) }
  }

  /// The changed values for the record, of changed, deleted and new objects.
  func changedValues() throws(StorageError) -> [RecordedValueChange] {
    guard let values, values.areRecorded else { return [] }
    var changes: [RecordedValueChange] = []
    for (place, old) in values.old {
      let key = ObjectKey(place.key)
      let lives = try transaction.contains(place.column.table, key)
      let new = lives ? try transaction.value(place.column, key) : .null
      if old != new { changes.append(RecordedValueChange(place.column, key, old: old, new: new)) }
    }
    for object in values.created {
      for column in scalars(of: object.table) {
        let new = try transaction.value(column, ObjectKey(object.key))
        if new != .null { changes.append(RecordedValueChange(column, ObjectKey(object.key), old: .null, new: new)) }
      }
    }
    return changes.sorted { ($0.table, $0.key, $0.property) < ($1.table, $1.key, $1.property) }
  }
}
