import ChangeTracker
import Storage
import Values

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

  /// A setter's work. What is wrong is reported by policy: a setter cannot throw.
  private func change(
    _ key: Int64, _ ordinal: Int,
    _ body: (RecordedTransaction, ColumnID, ObjectKey) throws(StorageError) -> Bool
  ) {
    guard let write = store.writing else {
      return store.misuse(.notInWrite("Setting '\(schema.name).\(properties[ordinal].schema.name)'"))
    }
    let column = columns[ordinal]
    if store.isTellingPropertyObserver {
      do throws(StoreError) {
        try store.refuseInObserver("Setting '\(schema.name).\(properties[ordinal].schema.name)'")
      } catch {
        return store.misuse(error)
      }
    }
    do throws(StorageError) {
      if ordinal == primaryKey {
        try write.beginSavepoint()
        let differs: Bool
        do throws(StorageError) {
          differs = try body(write, column, ObjectKey(key))
        } catch {
          try write.rollbackToSavepoint()
          throw error
        }
        if differs { try write.rollbackToSavepoint() } else { try write.releaseSavepoint() }
        store.dropWindows()
        if differs { store.misuse(.primaryKeyIsFixed(type: schema.name, property: properties[ordinal].schema.name)) }
        return
      }
      if store.hasPropertyObservers { willSet(key, ordinal) }
      if try body(write, column, ObjectKey(key)) {
        store.didChange(self)
        noteRead(key, ordinal)
      }
      if store.hasPropertyObservers { didSet(key, ordinal) }
    } catch {
      store.misuse(StoreError(error, in: write.transaction.catalog, type: schema.name, key: key))
    }
  }
}
