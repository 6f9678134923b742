import StorageInterface

extension SQLiteEngine: DeferredSync {
  /// Commits are in the log, and the log is what is synced; what was moved to the main file was synced by the move.
  public func syncCommits() throws(StorageError) {
    try checkOpen()
    try LogFile.sync(database: file.path)
  }
}
