import StorageInterface
import StoreValues
import SyncModel

/// A readable report of a file's replication: its replica, its progress, and its pending changesets.
package struct ReplicaReport: Sendable {
  /// A changeset that the server has not answered.
  package struct Waiting: Sendable {
    package var number: UInt64
    /// When it was written, in milliseconds since 1970.
    package var written: UInt64
    package var bytes: Int
    package var operations: Int
    /// Some of the objects that the changeset changes.
    package var objects: [String]
    /// Whether it will not be sent, because it builds on a refused one.
    package var isVoid: Bool
  }

  package var replica: String
  /// The id of the server's history; nil for a file that has not joined.
  package var history: String?
  package var cursor: UInt64
  package var refusalSeen: UInt64
  /// Whether the file takes all objects from the server with the next connection.
  package var isAnew: Bool
  /// By how many milliseconds the server's clock is ahead.
  package var clockOffset: Int64
  package var lastNumber: UInt64
  package var waiting: [Waiting]

  private static let objectsShown = 3

  /// Returns nil for a file that is not a replica. O(pending changesets).
  package init?(_ snapshot: any StorageReading) throws(StorageError) {
    guard let sides = snapshot.powers.sides, let standing = try ReplicaStanding.read(sides) else { return nil }
    replica = "\(standing.replica)"
    history = standing.history.isEmpty ? nil : standing.history.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    cursor = try SyncCursor.read(sides).rawValue
    (refusalSeen, isAnew) = (standing.refusalSeen.rawValue, standing.isAnew)
    (clockOffset, lastNumber) = (standing.clock.offset, standing.clientSeq)
    waiting = try Outbox.pending(sides).all.map { pending in
      let changeset = pending.changeset
      let objects = changeset.objects.sorted()
      let shown = objects.prefix(ReplicaReport.objectsShown).map { "\($0)" }
      let more = objects.count > shown.count ? ["and \(objects.count - shown.count) more"] : []
      return Waiting(
        number: changeset.clientSeq, written: changeset.first.milliseconds, bytes: changeset.encoded().count,
        operations: changeset.operations.count, objects: shown + more, isVoid: pending.isVoid)
    }
  }
}
