import StorageInterface
import SyncModel

extension LocalStanding {
  /// What a file says. Of one version, which has to be durable.
  ///
  /// - Parameter standing: who the file is; a file that was never written with replication is to be given one first.
  /// - Complexity: O(what waits).
  package init(_ sides: any SideReading, _ standing: ReplicaStanding) throws(StorageError) {
    let pending = try Outbox.pending(sides)
    let cursor = try SyncCursor.read(sides)
    var stamps: [UInt64: Stamp] = [:]
    for waiting in pending.all where !waiting.isVoid && !standing.isRenamed {
      stamps[waiting.changeset.clientSeq] = waiting.changeset.first
    }
    self.init(standing, cursor: cursor, pendingBase: pending.baseSeq(integrated: cursor), stamps: stamps)
  }

  /// The same without the stamps of what waits, which are asked for at the beginning of a connection only. O(log n).
  package init(progress sides: any SideReading, _ standing: ReplicaStanding) throws(StorageError) {
    let cursor = try SyncCursor.read(sides)
    // Bases never go back: the oldest has the lowest.
    let oldest = try Outbox.pending(bytesMax: 1, sides)
    self.init(standing, cursor: cursor, pendingBase: oldest.baseSeq(integrated: cursor), stamps: [:])
  }

  private init(_ standing: ReplicaStanding, cursor: Seq, pendingBase: Seq, stamps: [UInt64: Stamp]) {
    self.init(
      replica: standing.replica, secret: standing.secret, cursor: cursor, history: standing.history, refusalSeen: standing.refusalSeen,
      pendingBase: pendingBase, clientSeq: standing.isRenamed ? 0 : standing.clientSeq, stamps: stamps)
  }
}
