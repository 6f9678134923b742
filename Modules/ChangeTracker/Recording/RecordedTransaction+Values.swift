import StorageInterface
import StoreValues

/// The original values of the scalars that an open write has set, and the objects it has created. Savepoints: as for `PendingChanges`.
struct PendingValues {
  fileprivate struct Place: Hashable {
    let column: ColumnID
    let key: Int64
  }

  fileprivate var old: [Place: Value] = [:]
  fileprivate var created: Set<ObjectPlace> = []
  /// Objects from before that were deleted.
  fileprivate var deleted: Set<ObjectPlace> = []
  /// Whether the commit's record includes them; otherwise they are only for the companion, which asks for some of them.
  let areRecorded: Bool

  init(areRecorded: Bool) { self.areRecorded = areRecorded }

  mutating func insert(_ object: ObjectPlace) { created.insert(object) }

  /// Adds what happened later. What was already there is the original.
  mutating func add(_ later: PendingValues) {
    for (place, value) in later.old where old[place] == nil {
      if !created.contains(ObjectPlace(table: place.column.table, key: place.key)) { old[place] = value }
    }
    for object in later.deleted where created.remove(object) == nil { deleted.insert(object) }
    created.formUnion(later.created)
  }
}

extension RecordedTransaction {
  /// Call before a scalar is set: keeps its value from before the write.
  func noteValue(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) {
    let place = PendingValues.Place(column: column, key: key.rawValue)
    guard part.values?.old[place] == nil, part.values?.created.contains(ObjectPlace(table: column.table, key: key.rawValue)) == false
    else { return }
    let value = try transaction.value(column, key)
    part.values?.old[place] = value
  }

  /// Call before an object is deleted: keeps all its values.
  func noteValues(of table: TableID, _ key: ObjectKey) throws(StorageError) {
    let object = ObjectPlace(table: table, key: key.rawValue)
    if part.values?.created.remove(object) != nil { return }
    part.values?.deleted.insert(object)
    for column in scalars(of: table) { try noteValue(column, key) }
  }

  /// The original value of a scalar that this write has set; nil for others. For the write's companion.
  package func valueBefore(_ column: ColumnID, _ key: ObjectKey) -> Value? {
    part.values?.old[PendingValues.Place(column: column, key: key.rawValue)]
  }

  private func scalars(of table: TableID) -> [ColumnID] {
    guard let entry = transaction.catalog[table] else { return [] }
    return entry.columns.filter { $0.schema.isStored && $0.schema.isScalar }.map { entry.column($0.id) }
  }

  /// The changed values for the record, of changed, deleted and new objects.
  func changedValues() throws(StorageError) -> [RecordedValueChange] {
    guard let values = part.values, values.areRecorded else { return [] }
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
