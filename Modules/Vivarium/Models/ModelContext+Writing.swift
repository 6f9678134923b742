import ChangeTracker
import StorageInterface
import StoreValues

extension ModelContext {
  func set(_ key: Int64, _ ordinal: Int, word: Int64?) {
    change(key, ordinal, .word(word))
  }

  func set(_ key: Int64, _ ordinal: Int, bytes: UnsafeRawBufferPointer?) {
    change(key, ordinal, .bytes(bytes))
  }

  func set(_ key: Int64, _ ordinal: Int, _ value: Value) {
    change(key, ordinal, .boxed(value))
  }

  /// Performs a setter's change. A setter cannot throw, so an error fails the write.
  private func change(_ key: Int64, _ ordinal: Int, _ edit: ScalarEdit, at place: SourcePlace? = nil) {
    do throws(StoreError) { try changing(key, ordinal, edit) } catch { store.refuse(error, at: place) }
  }

  /// Sets a link, or throws.
  func setLink(_ key: Int64, _ ordinal: Int, to target: Int64?) throws(StoreError) {
    try changing(key, ordinal, .word(target))
  }

  /// Adds to an integer. An error fails the write.
  func add(_ delta: Int64, to key: Int64, _ ordinal: Int, at place: SourcePlace) {
    change(key, ordinal, .sum(delta), at: place)
  }

  private func changing(_ key: Int64, _ ordinal: Int, _ edit: ScalarEdit) throws(StoreError) {
    // Once: each use would count a reference, which is slow for an object that somebody holds weakly.
    let store = store
    guard let write = store.writing else {
      throw .notInWrite("Setting '\(schema.name).\(properties[ordinal].schema.name)'")
    }
    if store.observing.isNotifyingProperty {
      try store.refuseInObserver("Setting '\(schema.name).\(properties[ordinal].schema.name)'")
    }
    if ordinal == primaryKey { return try keepPrimaryKey(key, ordinal, write, edit) }
    do throws(StorageError) {
      if store.observing.hasProperties { willSet(key, ordinal) }
      if try edit.apply(to: write, columns[ordinal], ObjectKey(key)) {
        store.didChange(self)
        didChangeValue(key, ordinal)
      }
      if store.observing.hasProperties { didSet(key, ordinal) }
    } catch {
      if store.observing.hasProperties { didSet(key, ordinal) }
      throw StoreError(error, in: write.transaction.catalog, type: schema.name, key: key)
    }
  }

  /// Accepts setting a primary key to its present value only.
  private func keepPrimaryKey(_ key: Int64, _ ordinal: Int, _ write: RecordedTransaction, _ edit: ScalarEdit) throws(StoreError) {
    let isSame: Bool
    do throws(StorageError) {
      isSame = try edit.isIdle(in: write, columns[ordinal], ObjectKey(key))
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: schema.name, key: key)
    }
    if !isSame { throw .primaryKeyIsFixed(type: schema.name, property: properties[ordinal].schema.name) }
  }
}

/// A setter's change of a scalar.
private enum ScalarEdit {
  case word(Int64?)
  case bytes(UnsafeRawBufferPointer?)
  case boxed(Value)
  case sum(Int64)

  /// Returns whether the value differed.
  func apply(to write: RecordedTransaction, _ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Bool {
    switch self {
    case .word(let word): try write.set(column, key, word: word)
    case .bytes(let bytes): try write.set(column, key, bytes: bytes)
    case .boxed(let value): try write.set(column, key, value)
    case .sum(let delta): try write.add(delta, to: column, key)
    }
  }

  /// Whether the edit would change nothing.
  func isIdle(in write: RecordedTransaction, _ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Bool {
    switch self {
    case .word(let word): try write.transaction.word(column, key) == word
    case .bytes(let bytes): try write.transaction.holds(column, key, bytes: bytes)
    case .boxed(let value): try write.transaction.value(column, key) == value
    case .sum(let delta): delta == 0
    }
  }
}
