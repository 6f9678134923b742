import SyncModel
import SyncProtocol

/// One store of a server as a value with pure functions, which `MemoryServerStore` makes safe to share. Who keeps it in a file
/// writes the rows that it has touched (`StoreRows`).
///
/// It need not be the whole store: a call needs the replica, the objects and the handlers that it names, and of the log no entry
/// (`StoreRowsNeeded`). Who keeps rows in a database reads those, calls, and writes what was touched.
package struct ServerLog: Sendable {
  package struct Entry: Sendable {
    package enum Body: Sendable {
      case changeset(Changeset, user: String)
      case refusal(ReplicaID, Refusal, SyncErrorCode, String)
      case purge(Purge)
    }

    package var body: Body
    /// About how long it is on the wire.
    package var bytes: Int
    /// How the objects that it touched were before it, and the entries of the same transaction behind it; nil where that was not kept.
    package var before: [ObjectBefore]?
  }

  package struct Replica: Sendable {
    package var secret: [UInt8]
    package var user: String
    var gate = UploadGate()
    var judgedStamp = Stamp.zero
    /// The base of its oldest changeset that was not acknowledged.
    package var pendingBase = Seq.zero
    var cursor = Seq.zero
    var refusalSeen = Seq.zero {
      didSet { refusals.removeAll { $0.seq <= refusalSeen } }
    }
    /// Refusals that it has not seen.
    var refusals: [(seq: Seq, clientSeq: UInt64)] = []
    package var seenAt: Int64
  }

  package struct Handler: Sendable {
    package var cursor: Seq
    /// The replica that it writes as; nil until it has written.
    package var author: ReplicaID?
    package var fence: UInt64 = 0
    package var leaseEnd: Int64 = .min

    package init(cursor: Seq) { self.cursor = cursor }
  }

  package var history: [UInt8]
  package var state = MemoryState()
  /// Which objects the state knows, in their order.
  var order = ObjectOrder()
  /// The entries after `base`.
  package var log: [Entry] = []
  /// Where the log begins: the entries after this one are there.
  package var logStart = Seq.zero
  /// Where the part of the log begins that is here: at its start, or behind it.
  var base = Seq.zero
  package var replicas: [ReplicaID: Replica] = [:]
  package var expired: Set<ReplicaID> = []
  package var handlers: [String: Handler] = [:]
  /// Whether somebody handles the store's events, though no handler need be here.
  package var isHandled = false
  /// The highest stamps of entries that no purge has covered yet, by number: kept when the log is not.
  package var stamps: [(seq: Seq, stamp: Stamp)] = []
  /// The highest stamp of all entries there ever were.
  package var latest = Stamp.zero
  /// What the last purge said.
  package var purged = Purge(stable: .zero, floor: .zero)
  /// What is different from what was stored last.
  package var touched = TouchedLogRows()

  package init(history: [UInt8]) { self.history = history }

  /// The frame of a stored log, without any of its rows.
  package init(history: [UInt8], logStart: Seq, head: Seq, latest: Stamp, purged: Purge) {
    (self.history, self.logStart, base, self.latest, self.purged) = (history, logStart, head, latest, purged)
    state.setFloor(purged.floor)
  }

  package var head: Seq { Seq(base.rawValue + UInt64(log.count)) }

  var next: Seq { Seq(head.rawValue + 1) }

  mutating func append(_ body: Entry.Body, bytes: Int, before: [ObjectBefore]? = nil) {
    log.append(Entry(body: body, bytes: bytes, before: before))
  }

  /// A name for a history that no other has.
  package static func newHistory() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

  /// Has all of it written, as into a new place.
  package mutating func touchAll() {
    touched.objects = Set(state.records.keys)
    (touched.replicas, touched.expired, touched.handlers) = (Set(replicas.keys), expired, !handlers.isEmpty)
  }

  mutating func set(_ replica: Replica?, _ id: ReplicaID) {
    replicas[id] = replica
    touched.replicas.insert(id)
  }

  /// The entries that are here, with their numbers.
  package var numberedEntries: [(seq: Seq, entry: Entry)] {
    log.enumerated().map { (Seq(base.rawValue + UInt64($0) + 1), $1) }
  }

  func replica(_ id: ReplicaID) throws(ServerStoreError) -> Replica {
    guard let replica = replicas[id] else { throw ServerStoreError(.replicaExpired, "The replica \(id) is not known.") }
    return replica
  }

  package mutating func bind(_ id: ReplicaID, secret: [UInt8], user: String, at time: Int64) throws(ServerStoreError) -> Standing {
    if id.isHandler { throw ServerStoreError(.replicaTaken, "The replica \(id) is a handler's.") }
    if expired.contains(id) { throw ServerStoreError(.replicaExpired, "The replica \(id) was away for too long.") }
    var replica = replicas[id] ?? Replica(secret: secret, user: user, seenAt: time)
    guard replica.secret == secret, replica.user == user else {
      throw ServerStoreError(.replicaTaken, "The replica \(id) belongs to another device or user.")
    }
    replica.seenAt = max(replica.seenAt, time)
    set(replica, id)
    return Standing(
      judged: replica.gate.answered, judgedStamp: replica.judgedStamp, refusal: replica.gate.refused,
      refused: replica.refusals.map(\.clientSeq), history: history, head: head,
      logStart: logStart, stable: purged.stable, pendingBase: replica.pendingBase)
  }

  package mutating func acknowledge(_ id: ReplicaID, _ state: Acknowledgement, at time: Int64) throws(ServerStoreError) {
    var replica = try replica(id)
    // Nobody is further than the log, whatever he says: what is forgotten hangs on it.
    replica.cursor = max(replica.cursor, min(state.cursor, head))
    replica.pendingBase = max(replica.pendingBase, min(state.pendingBase, replica.cursor))
    replica.refusalSeen = max(replica.refusalSeen, min(state.refusalSeen, replica.cursor))
    replica.seenAt = max(replica.seenAt, time)
    set(replica, id)
  }
}
