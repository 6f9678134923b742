import ChangeTracker
import StorageInterface
import StoreValues

extension ModelContext {
  func set(_ key: Int64, _ ordinal: Int, word: Int64?) {
    change(key, ordinal) { (write, column, key) throws(StorageError) in
      try write.set(column, key, word: word)
    }
  }

  func set(_ key: Int64, _ ordinal: Int, bytes: UnsafeRawBufferPointer?) {
    change(key, ordinal) { (write, column, key) throws(StorageError) in
      try write.set(column, key, bytes: bytes)
    }
  }

  func set(_ key: Int64, _ ordinal: Int, _ value: Value) {
    change(key, ordinal) { (write, column, key) throws(StorageError) in
      try write.set(column, key, value)
    }
  }

  /// A setter's work. What is refused is the write's fault: a setter cannot throw.
  private func change(
    _ key: Int64, _ ordinal: Int,
    _ body: (RecordedTransaction, ColumnID, ObjectKey) throws(StorageError) -> Bool
  ) {
    do throws(StoreError) { try changing(key, ordinal, body) } catch { store.refuse(error) }
  }

  /// Sets a link, or throws.
  func setLink(_ key: Int64, _ ordinal: Int, to target: Int64?) throws(StoreError) {
    try changing(key, ordinal) { (write, column, key) throws(StorageError) in try write.set(column, key, word: target) }
  }

  /// Adds to an integer. What is refused is the write's fault.
  func add(_ delta: Int64, to key: Int64, _ ordinal: Int) {
    change(key, ordinal) { (write, column, key) throws(StorageError) in try write.add(delta, to: column, key) }
  }

  private func changing(
    _ key: Int64, _ ordinal: Int,
    _ body: (RecordedTransaction, ColumnID, ObjectKey) throws(StorageError) -> Bool
  ) throws(StoreError) {
    guard let write = store.writing else {
      throw .notInWrite("Setting '\(schema.name).\(properties[ordinal].schema.name)'")
    }
    if store.observing.isTellingProperty {
      try store.refuseInObserver("Setting '\(schema.name).\(properties[ordinal].schema.name)'")
    }
    if ordinal == primaryKey { return try keepPrimaryKey(key, ordinal, write, body) }
    do throws(StorageError) {
      if store.observing.hasProperties { willSet(key, ordinal) }
      if try body(write, columns[ordinal], ObjectKey(key)) {
        store.didChange(self)
        noteRead(key, ordinal)
      }
      if store.observing.hasProperties { didSet(key, ordinal) }
    } catch {
      if store.observing.hasProperties { didSet(key, ordinal) }
      throw StoreError(error, in: write.transaction.catalog, type: schema.name, key: key)
    }
  }

  /// A primary key may be set to what it is.
  private func keepPrimaryKey(
    _ key: Int64, _ ordinal: Int, _ write: RecordedTransaction,
    _ body: (RecordedTransaction, ColumnID, ObjectKey) throws(StorageError) -> Bool
  ) throws(StoreError) {
    var (differs, isTaken) = (false, false)
    do throws(StorageError) {
      try write.beginSavepoint()
      do throws(StorageError) {
        differs = try body(write, columns[ordinal], ObjectKey(key))
      } catch {
        try write.rollbackToSavepoint()
        // What another object has is another key, and as fixed as any.
        guard error.code == .uniqueViolation else { throw error }
        isTaken = true
      }
      if differs { try write.rollbackToSavepoint() } else if !isTaken { try write.releaseSavepoint() }
      store.dropWindows()
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: schema.name, key: key)
    }
    if differs || isTaken { throw .primaryKeyIsFixed(type: schema.name, property: properties[ordinal].schema.name) }
  }
}
