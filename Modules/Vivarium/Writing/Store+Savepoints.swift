import ChangeTracker
import StorageInterface

extension Store {
  /// Runs `body` as a part of the open write that can be undone alone. If `body` throws, everything since the savepoint is undone,
  /// objects created in it are invalid, the write continues, and the error is rethrown.
  ///
  /// ```swift
  /// try store.write {
  ///   for line in lines { try? store.savepoint { try read(line, into: store) } }
  /// }
  /// ```
  ///
  /// A rejected edit also undoes the savepoint, and is thrown when it ends. Savepoints nest. Throws `.notInWrite` without a write,
  /// and if `body` ended the write: a body throws to undo its part. Only undoing has a cost.
  @discardableResult
  public func savepoint<R>(_ body: () throws -> R) throws -> R {
    let write = try openWrite(for: "A savepoint")
    try storing { () throws(StorageError) in try write.beginSavepoint() }
    let savepoint = OpenSavepoint(write: write, hooks: writer.hooks.count, fault: writer.edits.fault)
    writer.edits.fault = nil
    let result = Result { try body() }
    guard writing === savepoint.write else {
      if case .failure(let error) = result { throw error }
      throw StoreError.notInWrite("Ending a savepoint")
    }
    switch result {
    case .success(let value):
      try release(savepoint)
      return value
    case .failure(let error):
      try rollBack(to: savepoint)
      throw error
    }
  }

  /// A savepoint that is ended manually, by code that cannot put its part of the write into one closure. Savepoints end in the
  /// reverse order of their beginning.
  package struct OpenSavepoint {
    let write: RecordedTransaction
    /// The number of hooks at its beginning.
    let hooks: Int
    /// The rejected edit from before it.
    let fault: StoreError?
  }

  /// Begins a savepoint; nil without an open write.
  package func beginSavepoint() throws(StoreError) -> OpenSavepoint? {
    guard let writing else { return nil }
    try storing { () throws(StorageError) in try writing.beginSavepoint() }
    defer { writer.edits.fault = nil }
    return OpenSavepoint(write: writing, hooks: writer.hooks.count, fault: writer.edits.fault)
  }

  /// Keeps what was written since; if an edit was rejected, undoes it and throws that error. Does nothing if the write has ended.
  package func release(_ savepoint: OpenSavepoint) throws(StoreError) {
    guard writing === savepoint.write else { return }
    if let fault = writer.edits.fault {
      try rollBack(to: savepoint)
      throw fault
    }
    writer.edits.fault = savepoint.fault
    dropWindows()
    try storing { () throws(StorageError) in try savepoint.write.releaseSavepoint() }
  }

  /// Undoes what was written since. Does nothing if the write has ended.
  package func rollBack(to savepoint: OpenSavepoint) throws(StoreError) {
    guard writing === savepoint.write else { return }
    writer.edits.fault = savepoint.fault
    writer.hooks.undo(from: savepoint.hooks)
    dropWindows()
    defer {
      didChangeEverything()
      // As after `cancelWrite`: set values are restored, and no commit reports them.
      checkPropertyObservers()
    }
    try storing { () throws(StorageError) in try savepoint.write.rollbackToSavepoint() }
  }
}
