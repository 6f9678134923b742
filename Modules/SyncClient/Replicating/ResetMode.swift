/// What becomes of pending changes when the server's history is not the file's: the server or the file was restored from a backup, the
/// file is a copy of another, or the device was away longer than the server remembers it.
///
/// In each mode the file takes the server's objects in one commit, and live objects and observers continue.
/// Not asked for when the history is the file's, and only a clock was wrong or the objects differ: pending changes are redone then.
public enum ResetMode: Hashable, Sendable {
  /// Redoes them on top of the server's objects: inserts always, other changes if their object still exists and nobody changed the same
  /// later.
  case recover
  /// Discards them.
  case discard
  /// Redoes them, and discards them if they can never be applied; not for temporary reasons such as a full disk or another writer.
  case recoverOrDiscard
  /// Waits for the app to decide (`Replicator.reset`); until then the file behaves as if there were no network.
  case manual
}
