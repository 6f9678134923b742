import ChangeTracker
import StorageInterface
import SyncModel

/// Takes what the log says into an open write: objects, merge state, clock, outbox and cursor move together or not at all.
package enum RemoteChanges {
  /// Integrates changesets in the order of the log. Own ones, which came back, are merged with their place in it and leave the outbox.
  ///
  /// When it throws, the write is to be ended: nothing of it is done then.
  ///
  /// - Parameter entries: changesets and their places; ascending.
  package static func integrate(_ entries: [(changeset: Changeset, seq: Seq)], in write: RecordedTransaction) throws(StorageError) {
    guard let sides = write.transaction.sideWriting else {
      throw StorageError(
        .syncRequired, .transaction, "The engine cannot keep what replication needs.", remedy: "Use one with the power 'SideWriting'.")
    }
    let state = try FileState(sides)
    var standing = try ReplicaStanding.read(sides) ?? .drawn()
    var integrator = Integrator(write, sides, own: standing.replica, state: state)
    for (changeset, seq) in entries {
      try integrator.integrate(changeset, seq: seq)
      if changeset.author == standing.replica {
        try Outbox.remove(changeset.clientSeq, sides)
      } else if !changeset.operations.isEmpty {
        standing.clock.receive(changeset.last)
      }
      try SyncCursor.write(seq, sides)
    }
    try standing.write(sides)
    try state.flush()
  }
}
