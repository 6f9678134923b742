import ChangeTracker
import StorageInterface

extension Store {
  /// Runs `body` as a part of the open write that is undone alone: when `body` throws, everything since the savepoint is
  /// as it was, objects created in it are invalid, the write goes on, and the same error is thrown on.
  ///
  /// ```swift
  /// try store.write {
  ///   for line in lines { try? store.savepoint { try read(line, into: store) } }
  /// }
  /// ```
  ///
  /// An edit in it that was refused undoes it too, and is thrown when it ends. Savepoints nest. `.notInWrite` without a write, and when
  /// `body` ended it by itself: a body throws to undo
  /// its part. Costs nothing but what it undoes.
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

  /// A savepoint that is ended by hand, by code that cannot put its part of the write into one closure. Savepoints
  /// end in the reverse order of their beginning.
  package struct OpenSavepoint {
    let write: RecordedTransaction
    /// How many hooks there were.
    let hooks: Int
    /// What was refused before it.
    let fault: StoreError?
  }

  /// Begins a savepoint; nil without an open write.
  package func beginSavepoint() throws(StoreError) -> OpenSavepoint? {
    guard let writing else { return nil }
    try storing { () throws(StorageError) in try writing.beginSavepoint() }
    defer { writer.edits.fault = nil }
    return OpenSavepoint(write: writing, hooks: writer.hooks.count, fault: writer.edits.fault)
  }

  /// Keeps what was written since, or, where an edit of it was refused, undoes it and throws why. Nothing when the write is over.
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

  /// Undoes what was written since. Nothing when the write is over.
  package func rollBack(to savepoint: OpenSavepoint) throws(StoreError) {
    guard writing === savepoint.write else { return }
    writer.edits.fault = savepoint.fault
    writer.hooks.undo(from: savepoint.hooks)
    dropWindows()
    defer {
      didChangeEverything()
      // As after `cancelWrite`: what was set is taken back, and no commit names it.
      checkPropertyObservers()
    }
    try storing { () throws(StorageError) in try savepoint.write.rollbackToSavepoint() }
  }
}
