import StoreValues

/// Reads the commit history.
///
/// Called once per delivery of changes, with the last delivered version, and by tools that read or copy the history. On one
/// thread at a time.
public protocol HistoryReading: VersionReading {
  /// The commit records of the versions in (`version`, this version], ascending. `.historyTrimmed` (scope statement) if one of
  /// them is gone, usually the first; then the caller must treat everything as changed, whatever it received.
  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError)
}
