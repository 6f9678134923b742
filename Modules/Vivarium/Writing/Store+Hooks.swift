import StoreValues

extension Store {
  /// Runs `action` once, when the open write is committed. For effects that must happen only then, such as deleting a file that
  /// deleted objects named, or notifying a server.
  ///
  /// ```swift
  /// try store.write {
  ///   let path = photo.path
  ///   try store.delete(photo)
  ///   try store.afterCommit { _ in try? FileManager.default.removeItem(atPath: path) }
  /// }
  /// ```
  ///
  /// `action` runs where the write ran (on the worker, for an asynchronous one), before the committing call returns, after the
  /// right to write was released, with the store at the new version, which it receives; if the write changed nothing, the existing
  /// version. Actions run in the order of the calls. They may read and write: that is a separate write with its own hooks.
  /// Observers are notified in their turn, or before such a write opens.
  ///
  /// Undoing a savepoint discards the actions added inside it. A store released with its write open calls none. Throws
  /// `.notInWrite` without a write.
  public func afterCommit(_ action: @escaping (Version) -> Void) throws(StoreError) {
    try checkWriting("'afterCommit'")
    writer.hooks.add(committed: action)
  }

  /// Runs `action` once, when the open write is undone: by `cancelWrite()`, by an error thrown in it, or because the commit failed.
  /// For what was prepared outside the store, such as a file written for an object. Otherwise like `afterCommit`.
  ///
  /// An action added inside a savepoint that is undone also runs when the write ends, whether it commits or not.
  public func afterRollback(_ action: @escaping () -> Void) throws(StoreError) {
    try checkWriting("'afterRollback'")
    writer.hooks.add(rolledBack: action)
  }

  // An observer notified inside the write may call these: adding a hook does not write.
  private func checkWriting(_ what: String) throws(StoreError) {
    if writing != nil { return }
    if isReadOnly { throw .readOnlyOperation(what) }
    throw .notInWrite(what)
  }
}
