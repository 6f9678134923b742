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

extension HistoryReading {
  /// The record of the commit that this version is; nil if the store is new or the history no longer has it. Throws what `history`
  /// does, but `.historyTrimmed`.
  package func newestRecord() throws(StorageError) -> CommitRecord? {
    guard version.rawValue > 0 else { return nil }
    var newest: CommitRecord?
    do throws(StorageError) {
      try history(after: Version(version.rawValue - 1)) { record in
        newest = record
        return .proceed
      }
    } catch {
      if error.code != .historyTrimmed { throw error }
    }
    return newest
  }
}
