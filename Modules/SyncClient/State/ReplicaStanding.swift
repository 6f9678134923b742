import StorageInterface
import StoreValues
import SyncModel

/// The file's replica id and counters: the side entry `s`, 2.
package struct ReplicaStanding: Hashable, Sendable {
  /// Stamps the operations of the file's writes.
  package var clock: HybridClock
  /// The number of the last changeset made.
  package var clientSeq: UInt64
  /// The number of the last element inserted into a list.
  package var elements: UInt64
  /// The last integrated refusal.
  package var refusalSeen: Seq
  /// The 16 bytes that name the history of the store; empty before the file has joined.
  package var history: [UInt8]
  /// The last version that the merge state includes; nil if unknown. Other programs wrote the later ones.
  package var captured: Version?
  /// 16 bytes that only this replica knows: the first client that binds the replica with them owns it.
  package var secret: [UInt8] = []
  /// Whether the file must take all objects from the server, whatever it has, and redo pending changes on top of them.
  package var isAnew = false
  /// Whether it does so as another replica, which has uploaded nothing yet: its pending changes have the numbers of the previous replica.
  package private(set) var isRenamed = false

  /// The author of the file's changes.
  package var replica: ReplicaID { clock.replica }

  /// Creates the standing of a file that has made no changes yet.
  package init(replica: ReplicaID) {
    clock = HybridClock(replica: replica)
    clientSeq = 0
    elements = 0
    refusalSeen = .zero
    history = []
  }

  /// The standing of the same file as another replica, which has uploaded nothing yet. Element numbers continue.
  func renamed(_ replica: ReplicaID) -> ReplicaStanding {
    var new = ReplicaStanding(replica: replica)
    new.secret = secret.isEmpty ? [] : ReplicaStanding.newSecret()
    new.clock = HybridClock(replica: replica, last: clock.last, offset: clock.offset)
    (new.clientSeq, new.elements, new.captured, new.isRenamed) = (clientSeq, elements, captured, true)
    return new
  }

  /// The standing of a new replica with a random id, below those of event handlers.
  package static func drawn() -> ReplicaStanding {
    var standing = ReplicaStanding(replica: ReplicaID(UInt64.random(in: 1..<1 << 63)))
    standing.secret = newSecret()
    return standing
  }

  /// Notes that the file has the server's state, and that pending changes are now the replica's own.
  mutating func settle() { (isAnew, isRenamed) = (false, false) }

  private static func newSecret() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

  private static let key: [UInt8] = [UInt8(ascii: "s"), 2]

  /// The format of everything that replication stores in the file. It comes last in the entry, because format 1 had no number.
  private static let format: UInt8 = 2

  /// Returns nil for a file never written with replication.
  ///
  /// - Throws: `.unsupportedVersion` if another build wrote another format.
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

  /// Stores the standing within the write that makes the changes, so no number is used twice, whenever the process dies.
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
