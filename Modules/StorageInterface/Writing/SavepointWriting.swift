/// Undoing a part of a write.
///
/// Called once per savepoint of the app, per step of a migration, and per edit that may fail half way: possibly once for each
/// inserted object, so a savepoint must cost no more than its changes. On one thread at a time.
public protocol SavepointWriting: VersionReading {
  /// Begins a savepoint. Savepoints nest; exactly one of the next two calls ends each.
  func beginSavepoint() throws(StorageError)
  /// Ends the innermost savepoint and keeps its changes.
  func releaseSavepoint() throws(StorageError)
  /// Ends the innermost savepoint and undoes its changes, index entries and lists included. Issued keys stay used.
  func rollbackToSavepoint() throws(StorageError)
}
