import StorageInterface
import StoreValues

/// Inserts objects into an empty store under the keys they have in the source.
struct GraphWriter {
  private let write: any WriteTransaction
  private var inserted: [TableID: KeyRuns] = [:]

  /// `catalog` is the source's: tables and properties keep their ids. Side entries are not copied, because they are about the
  /// source store.
  init(_ write: any WriteTransaction, _ catalog: Catalog) throws(StorageError) {
    self.write = write
    try write.setCatalog(catalog.withoutSideEntries())
  }

  /// Inserts objects into a table, with `value` for each scalar that is not a link. Keys ascend, across calls too; skipped keys are
  /// used up. O(objects).
  mutating func insert(
    _ table: TableEntry, _ keys: [Int64],
    _ value: (ColumnEntry, ObjectKey) throws(StorageError) -> Value?
  ) throws(StorageError) {
    let row = RowBuffer(table)
    var runs = inserted[table.id] ?? KeyRuns()
    var next: Int64 = 1
    for key in keys {
      row.reset()
      for (slot, column) in table.columns.enumerated() {
        guard case .scalar(let type) = column.schema.kind, !type.mayLink, let given = try value(column, ObjectKey(key)) else { continue }
        if !given.isNull { row.set(slot, given) } else if column.schema.mayBeNull { row.setNull(slot) }
      }
      if key > next { try write.reserveKeys(in: table.id, below: ObjectKey(key)) }
      let made = try write.insert(row)
      guard made.rawValue == key else {
        throw StorageError(.misuse, .transaction, "The store that is written to is not empty: '\(table.name)' has objects.")
      }
      runs.append(key)
      // Cannot overflow: keys are positive and below the end of the key range.
      next = key + 1
    }
    inserted[table.id] = runs
  }

  /// Sets collections and links. All target objects exist by now.
  func fill(
    _ table: TableEntry, _ keys: [Int64],
    _ content: (ColumnEntry, ObjectKey) throws(StorageError) -> GraphContent?
  ) throws(StorageError) {
    for column in table.columns where column.schema.isStored {
      let place = table.column(column.id)
      if column.schema.isScalar, column.schema.valueType?.mayLink != true { continue }
      for key in keys {
        switch try content(column, ObjectKey(key)) {
        case nil: continue
        case .scalar(let value): if !value.isNull { try write.set(place, ObjectKey(key), value) }
        case .elements(let values):
          if column.schema.isSet {
            for value in values { _ = try write.insert(member: value, into: place, ObjectKey(key)) }
          } else if !values.isEmpty {
            try write.edit(place, ObjectKey(key), .insert(at: 0, values))
          }
        case .entries(let entries):
          for entry in entries { _ = try write.set(entry.value, forKey: entry.key, in: place, ObjectKey(key)) }
        }
      }
    }
  }

  /// The inserted objects, as a commit record.
  var record: CommitRecord {
    CommitRecord(
      origin: 0, changedCatalog: true,
      tables: inserted.sorted { $0.key < $1.key }.filter { $0.value.count > 0 }.map { TableChange(table: $0.key, inserted: $0.value) })
  }
}

/// The content of a column for one object.
enum GraphContent {
  case scalar(Value)
  case elements([Value])
  case entries([ValueMap.Entry])

  init(_ column: ColumnID, _ schema: PropertySchema, _ key: ObjectKey, in read: any StorageReading) throws(StorageError) {
    switch schema.kind {
    case .scalar: self = .scalar(try read.value(column, key))
    case .map: self = .entries(try read.entries(column, key, 0..<Int.max))
    default: self = .elements(try read.values(column, key, 0..<Int.max))
    }
  }
}
