import StoreValues

extension Store {
  /// Runs `action` once, when the open write is committed: for what must not happen when it is not, as deleting a file that the
  /// deleted objects named, or telling a server.
  ///
  /// ```swift
  /// try store.write {
  ///   let path = photo.path
  ///   try store.delete(photo)
  ///   try store.afterCommit { _ in try? FileManager.default.removeItem(atPath: path) }
  /// }
  /// ```
  ///
  /// It runs where the write ran (on the worker, for an asynchronous one), before the call that commits returns, after the right to
  /// write was given back and with the store at the new version, which it is given; of a write that changed nothing, the version
  /// there was. Several run in the order in which they were asked for. It may read and write: that is a write of its own, with hooks
  /// of its own. What observers hear comes in their turn, or before such a write opens.
  ///
  /// A savepoint that is undone takes back what was asked for inside it. A store that is let go of with its write open calls
  /// nothing. `.notInWrite` without a write.
  public func afterCommit(_ action: @escaping (Version) -> Void) throws(StoreError) {
    try checkWriting("'afterCommit'")
    writer.hooks.add(committed: action)
  }

  /// Runs `action` once, when the open write is undone: by `cancelWrite()`, by an error thrown in it, or because the commit failed.
  /// For what was prepared outside the store, as a file that was written for an object. In all else as `afterCommit`.
  ///
  /// Asked for inside a savepoint that is undone, it runs too, when the write ends, however that does.
  public func afterRollback(_ action: @escaping () -> Void) throws(StoreError) {
    try checkWriting("'afterRollback'")
    writer.hooks.add(rolledBack: action)
  }

  // An observer inside the write may ask too: it does not write by that.
  private func checkWriting(_ what: String) throws(StoreError) {
    if writing != nil { return }
    if isReadOnly { throw .readOnlyOperation(what) }
    throw .notInWrite(what)
  }
}
