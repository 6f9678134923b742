import SyncModel

/// What a file reports when it binds, and after each integration; only what is durable.
package struct LocalStanding: Hashable, Sendable {
  package var replica: ReplicaID
  /// 16 bytes that only this replica knows.
  package var secret: [UInt8]
  /// The last integrated entry.
  package var cursor: Seq
  /// The history that the cursor belongs to; empty for a file that has not joined.
  package var history: [UInt8]
  package var refusalSeen: Seq
  /// The base of the oldest pending changeset; the cursor if there is none.
  package var pendingBase: Seq
  /// The replicated types of the file. Only in the standing with which a connection begins.
  package var schema = SyncSchema()
  /// What became of pending changes if the file has just begun anew, or has taken the server's objects for that. Only then.
  package var recovery: RecoveryReport?
  /// The last changeset that the file has made as this replica.
  package var clientSeq: UInt64
  /// The first stamps of the pending changesets that are not void, by number.
  package var stamps: [UInt64: Stamp]
  /// The pages that the file has of a walk that an earlier connection began. Only in the standing with which a connection begins.
  package var staged: StagedPages?

  package init(
    replica: ReplicaID, secret: [UInt8], cursor: Seq = .zero, history: [UInt8] = [], refusalSeen: Seq = .zero, pendingBase: Seq = .zero,
    clientSeq: UInt64 = 0, stamps: [UInt64: Stamp] = [:]
  ) {
    (self.replica, self.secret, self.cursor, self.history) = (replica, secret, cursor, history)
    (self.refusalSeen, self.pendingBase, self.clientSeq) = (refusalSeen, pendingBase, clientSeq)
    self.stamps = stamps
  }

  /// Whether the server has judged changes of this replica that the file has not made: the file is a copy, or was restored from a backup.
  package func isForked(judged: UInt64, stamp: Stamp) -> Bool {
    judged > clientSeq || stamps[judged].map { $0 != stamp } ?? false
  }
}
