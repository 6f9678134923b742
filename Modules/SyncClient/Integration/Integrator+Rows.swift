import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// A created object that is not in the file yet: the values that follow are collected, so that its row takes one insert.
struct PendingRow {
  let object: ObjectIdentity
  let type: ShownType
  let row: RowBuffer
}

extension Integrator {
  /// Begins a new object, in which every property is zero or null.
  mutating func begin(_ object: ObjectIdentity) throws(StorageError) {
    guard let type = names.type(of: object), try names.place(of: object) == nil else { return }
    pending = PendingRow(object: object, type: type, row: try emptyRow(type.table, object))
  }

  /// Sets a value in the pending object. Returns false if the object is another one, or the operation needs a row.
  func setPending(
    _ name: Name, _ cell: CellValue, in object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) -> Bool {
    guard let pending, path.isEmpty, pending.object == object, case .plain = cell else { return false }
    guard let property = pending.type.property(name) else { return true }
    pending.row.set(property.slot, try shown(cell, property.column) ?? .null)
    return true
  }

  /// Inserts the pending object, and shows the links to it. Must be called after the last operation, before anything else reads the file.
  package mutating func settle() throws(StorageError) {
    guard let new = pending else { return }
    pending = nil
    let place = ObjectLink(new.type.table.id, try write.insert(new.row))
    try names.note(new.object, at: place)
    for linker in try watched.linkers(of: new.object) { try reconcile(linker, .links) }
  }

  /// Creates the object, empty, and shows the links to it.
  mutating func create(_ object: ObjectIdentity) throws(StorageError) {
    try begin(object)
    try settle()
  }

  /// Inserts an embedded row.
  mutating func insertRow(_ table: TableEntry) throws(StorageError) -> ObjectKey {
    try settle()
    return try write.insert(try emptyRow(table, nil))
  }

  /// A row in which every property is zero or null: a value that nobody wrote is the same in every schema.
  private mutating func emptyRow(_ table: TableEntry, _ object: ObjectIdentity?) throws(StorageError) -> RowBuffer {
    let row = rows[table.id] ?? RowBuffer(table)
    rows[table.id] = row
    row.reset()
    for (slot, column) in table.columns.enumerated() {
      guard case .scalar(let type) = column.schema.kind else { continue }
      row.set(slot, column.schema.mayBeNull ? .null : Value.zero(of: type))
    }
    guard let object else { return row }
    guard let key = table.primaryKey, let slot = table.slot(of: key.id) else {
      guard object.primaryKey == nil else { throw mismatch(object, table) }
      return row
    }
    guard let value = object.primaryKey, let type = key.schema.valueType, value.fits(type) else { throw mismatch(object, table) }
    row.set(slot, value)
    return row
  }

  private func mismatch(_ object: ObjectIdentity, _ table: TableEntry) -> StorageError {
    StorageError(
      .schemaMismatch, .transaction, "'\(table.name)' cannot have the object \(object), which another replica created.",
      remedy: "Give the type the same primary key in every program that writes the store.")
  }

  /// Writes a value that fits the type, by its word or bytes. `set` with a value would box the stored value to compare the two.
  func put(_ value: Value, _ id: ColumnID, _ key: ObjectKey, as type: ValueType?) throws(StorageError) {
    guard let type, type != .mixed else {
      try write.set(id, key, value)
      return
    }
    if type.isWord {
      try write.set(id, key, word: value.word)
    } else {
      try value.withBytes { bytes throws(StorageError) in _ = try write.set(id, key, bytes: bytes) }
    }
  }
}

extension SyncModel.Operation {
  /// Whether the operation sets a property of the object itself to a value that is neither link nor collection.
  func isPlainSet(of other: ObjectIdentity) -> Bool {
    guard path.isEmpty, case .set(_, .plain, _) = action else { return false }
    return object == other
  }
}
