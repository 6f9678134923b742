import StorageInterface
import SyncModel

extension LocalStanding {
  /// What a file says. Of one version, which has to be durable.
  ///
  /// - Parameters:
  ///   - standing: who the file is; a file that was never written with replication is to be given one first.
  ///   - secret: 16 bytes that only the replica knows.
  /// - Complexity: O(what waits).
  package init(
    _ sides: any SideReading, _ standing: ReplicaStanding, secret: [UInt8], schemaHash: UInt64 = 0
  ) throws(StorageError) {
    let pending = try Outbox.pending(sides)
    let cursor = try SyncCursor.read(sides)
    var stamps: [UInt64: Stamp] = [:]
    for waiting in pending.all where !waiting.isVoid { stamps[waiting.changeset.clientSeq] = waiting.changeset.first }
    self.init(
      replica: standing.replica, secret: secret, cursor: cursor, history: standing.history, refusalSeen: standing.refusalSeen,
      pendingBase: pending.baseSeq(integrated: cursor), schemaHash: schemaHash, clientSeq: standing.clientSeq, stamps: stamps)
  }
}
