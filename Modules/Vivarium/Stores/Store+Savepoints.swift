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
    let write = try openWrite(for: "A savepoint")
    try storing { () throws(StorageError) in try write.beginSavepoint() }
    let result = Result { try body() }
    guard writing === write else {
      if case .failure(let error) = result { throw error }
      throw StoreError.notInWrite("Ending a savepoint")
    }
    dropWindows()
    switch result {
    case .success(let value):
      try storing { () throws(StorageError) in try write.releaseSavepoint() }
      return value
    case .failure(let error):
      defer { didChangeEverything() }
      try storing { () throws(StorageError) in try write.rollbackToSavepoint() }
      throw error
    }
  }
}
