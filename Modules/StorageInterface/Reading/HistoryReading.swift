import StoreValues

/// Reading what was committed.
///
/// Called once for each delivery of changes, with the version that was delivered last, and by tools that read or copy the history. On
/// one thread at a time.
public protocol HistoryReading: VersionReading {
  /// Commit records of the versions in (`version`, this version], ascending. `.historyTrimmed` (scope statement)
  /// when one of them is gone, the first as a rule; then the caller treats everything as changed, whatever it was given.
  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError)
}
