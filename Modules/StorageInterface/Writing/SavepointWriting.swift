/// Undoing a part of a write.
///
/// Called once for each savepoint of the app, for each step of a migration, and for each edit that may be refused half way: that can be
/// once for each object that is added, so a part must cost no more than what it changes. On one thread at a time.
public protocol SavepointWriting: VersionReading {
  /// Starts a part that can be undone alone. Parts nest; each is ended by exactly one of the next two calls.
  func beginSavepoint() throws(StorageError)
  /// Keeps what was done since the last open `beginSavepoint`.
  func releaseSavepoint() throws(StorageError)
  /// Undoes what was done since the last open `beginSavepoint`, index entries and lists included. The keys that
  /// were given out stay used.
  func rollbackToSavepoint() throws(StorageError)
}
