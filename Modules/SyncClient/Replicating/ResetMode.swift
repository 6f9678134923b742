/// What becomes of changes that wait to be sent when the server's past is another one than the file's: it was restored from a back-up, the
/// file was, or it is a copy of another's, or the device was away for longer than the server remembers it.
///
/// In each mode the file takes what the server has, in one commit, with live objects and observers going on.
public enum ResetMode: Hashable, Sendable {
  /// They are done again on top of it: inserts always, other changes where what they change is still there and nobody changed it later.
  case recover
  /// They are given up.
  case discard
  /// They are done again, and given up where that cannot be done for what they are: not because a disk is full, or another writes.
  case recoverOrDiscard
  /// Nothing is done until the app says what (`Replicator.reset`): until then the file is used as if there were no network.
  case manual
}
