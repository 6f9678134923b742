import ChangeTracker
import Storage

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
  /// Savepoints nest. `.notInWrite` without a write, and when `body` ended it by itself: a body throws to undo
  /// its part. Costs nothing but what it undoes.
  @discardableResult
  public func savepoint<R>(_ body: () throws -> R) throws -> R {
    let savepoint = OpenSavepoint(write: try openWrite(for: "A savepoint"), hooks: hooks.count)
    try storing { () throws(StorageError) in try savepoint.write.beginSavepoint() }
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
  }

  /// Begins a savepoint; nil without an open write.
  package func beginSavepoint() throws(StoreError) -> OpenSavepoint? {
    guard let writing else { return nil }
    try storing { () throws(StorageError) in try writing.beginSavepoint() }
    return OpenSavepoint(write: writing, hooks: hooks.count)
  }

  /// Keeps what was written since. Nothing when the write is over.
  package func release(_ savepoint: OpenSavepoint) throws(StoreError) {
    guard writing === savepoint.write else { return }
    dropWindows()
    try storing { () throws(StorageError) in try savepoint.write.releaseSavepoint() }
  }

  /// Undoes what was written since. Nothing when the write is over.
  package func rollBack(to savepoint: OpenSavepoint) throws(StoreError) {
    guard writing === savepoint.write else { return }
    hooks.undo(from: savepoint.hooks)
    dropWindows()
    defer {
      didChangeEverything()
      // As after `cancelWrite`: what was set is taken back, and no commit names it.
      checkPropertyObservers()
    }
    try storing { () throws(StorageError) in try savepoint.write.rollbackToSavepoint() }
  }
}
