import StorageInterface
import SyncModel

extension LocalStanding {
  /// Reads a file's standing from one version, which must be durable.
  ///
  /// - Parameter standing: the file's replica; a file never written with replication must be given one first.
  /// - Throws: also `.stagedPagesDamaged`, until they are removed.
  /// - Complexity: O(pending changesets).
  package init(_ sides: any SideReading, _ standing: ReplicaStanding) throws(StorageError) {
    let pending = try Outbox.pending(sides)
    let cursor = try SyncCursor.read(sides)
    var stamps: [UInt64: Stamp] = [:]
    for waiting in pending.all where !waiting.isVoid && !standing.isRenamed {
      stamps[waiting.changeset.clientSeq] = waiting.changeset.first
    }
    self.init(standing, cursor: cursor, pendingBase: pending.baseSeq(integrated: cursor), stamps: stamps)
    staged = try StagedPages.read(sides, standing, cursor: cursor)
  }

  /// The same without the stamps of pending changesets, which are needed only when a connection begins. O(log n).
  package init(progress sides: any SideReading, _ standing: ReplicaStanding) throws(StorageError) {
    let cursor = try SyncCursor.read(sides)
    // Bases never decrease, so the oldest changeset has the lowest.
    let oldest = try Outbox.pending(bytesMax: 1, sides)
    self.init(standing, cursor: cursor, pendingBase: oldest.baseSeq(integrated: cursor), stamps: [:])
  }

  private init(_ standing: ReplicaStanding, cursor: Seq, pendingBase: Seq, stamps: [UInt64: Stamp]) {
    self.init(
      replica: standing.replica, secret: standing.secret, cursor: cursor, history: standing.history, refusalSeen: standing.refusalSeen,
      pendingBase: pendingBase, clientSeq: standing.isRenamed ? 0 : standing.clientSeq, stamps: stamps)
  }
}
