import StorageInterface

extension SQLiteEngine: DeferredSync {
  /// Syncs the log, which holds the commits; checkpoints sync what they move to the main file.
  public func syncCommits() throws(StorageError) {
    try checkOpen()
    try LogFile.sync(database: file.path)
  }
}
