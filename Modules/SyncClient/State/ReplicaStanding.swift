import StorageInterface
import StoreValues
import SyncModel

/// Who a file is among the replicas of its store, and how far its numbers have come: the side entry `s`, 2.
package struct ReplicaStanding: Hashable, Sendable {
  /// Stamps what the file's writes do.
  package var clock: HybridClock
  /// Of the last changeset that was made.
  package var clientSeq: UInt64
  /// The number of the last element that was inserted into a list.
  package var elements: UInt64
  /// The last refusal that was integrated.
  package var refusalSeen: Seq
  /// 16 bytes that name the history of the store which the file follows; none before it has joined.
  package var history: [UInt8]
  /// The version up to which the merge state has all that was written; nil where that is not known. What comes behind it other programs
  /// wrote.
  package var captured: Version?
  /// 16 bytes that only this replica knows: who first binds with them owns it.
  package var secret: [UInt8] = []
  /// Whether the file is to take all objects from the server, whatever it has, and do what waits again on top of them.
  package var isAnew = false
  /// Whether it is to do so as another replica, which has sent nothing yet: the numbers of its changes are those of the one before.
  package private(set) var isRenamed = false

  /// Whose changes they are.
  package var replica: ReplicaID { clock.replica }

  /// Of a file that has made no change yet.
  package init(replica: ReplicaID) {
    clock = HybridClock(replica: replica)
    clientSeq = 0
    elements = 0
    refusalSeen = .zero
    history = []
  }

  /// Of the same file as another replica, which has sent nothing yet. Numbers of elements go on.
  func renamed(_ replica: ReplicaID) -> ReplicaStanding {
    var new = ReplicaStanding(replica: replica)
    new.secret = secret.isEmpty ? [] : ReplicaStanding.newSecret()
    new.clock = HybridClock(replica: replica, last: clock.last, offset: clock.offset)
    (new.clientSeq, new.elements, new.captured, new.isRenamed) = (clientSeq, elements, captured, true)
    return new
  }

  /// Of a new replica: the number is drawn, below those of event handlers.
  package static func drawn() -> ReplicaStanding {
    var standing = ReplicaStanding(replica: ReplicaID(UInt64.random(in: 1..<1 << 63)))
    standing.secret = newSecret()
    return standing
  }

  /// It has what the server has, and what waits is its own now.
  mutating func settle() { (isAnew, isRenamed) = (false, false) }

  private static func newSecret() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

  private static let key: [UInt8] = [UInt8(ascii: "s"), 2]

  /// How the file keeps what replication knows; written behind the standing, as the number was not there before 2.
  private static let format: UInt8 = 2

  /// nil for a file that was never written with replication.
  ///
  /// - Throws: `.unsupportedVersion` where another build kept the books.
  package static func read(_ sides: any SideReading) throws(StorageError) -> ReplicaStanding? {
    guard let bytes = try sides.side(key) else { return nil }
    var format: UInt8 = 1
    let standing = try reading("standing") { () throws(CodingError) in
      var reader = ByteReader(bytes)
      let replica = ReplicaID(try reader.fixed(UInt64.self))
      var standing = ReplicaStanding(replica: replica)
      standing.clock = HybridClock(
        replica: replica, last: try reader.fixed(UInt64.self), offset: try reader.fixed(Int64.self))
      standing.clientSeq = try reader.fixed(UInt64.self)
      standing.elements = try reader.fixed(UInt64.self)
      standing.refusalSeen = Seq(try reader.fixed(UInt64.self))
      standing.history = Array(try reader.content())
      let anew = try reader.fixed(UInt8.self)
      (standing.isAnew, standing.isRenamed) = (anew != 0, anew == 2)
      standing.captured = Version(try reader.fixed(UInt64.self))
      standing.secret = Array(try reader.content())
      if reader.left == 0 { return standing }
      format = try reader.byte()
      if format == ReplicaStanding.format { try reader.end() }
      return standing
    }
    if format == ReplicaStanding.format { return standing }
    throw StorageError(
      .unsupportedVersion, .engine,
      "What the file keeps for replication is of format \(format), and this build has \(ReplicaStanding.format).",
      remedy: format < ReplicaStanding.format
        ? "Open it without replication to save its objects, and join the server's store with a new file."
        : "Use a newer version of Vivarium.")
  }

  /// Part of the write that made the changes: so no number is given out twice, whenever the process dies.
  package func write(_ sides: any SideWriting) throws(StorageError) {
    var writer = ByteWriter()
    writer.put(fixed: clock.replica.rawValue)
    writer.put(fixed: clock.last)
    writer.put(fixed: clock.offset)
    writer.put(fixed: clientSeq)
    writer.put(fixed: elements)
    writer.put(fixed: refusalSeen.rawValue)
    writer.put(history)
    writer.put(fixed: UInt8(isAnew ? isRenamed ? 2 : 1 : 0))
    writer.put(fixed: captured?.rawValue ?? 0)
    writer.put(secret)
    writer.put(byte: ReplicaStanding.format)
    try sides.setSide(ReplicaStanding.key, writer.bytes)
  }
}
