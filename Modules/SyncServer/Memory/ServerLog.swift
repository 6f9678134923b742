import SyncModel
import SyncProtocol

/// One store of a server as a value with pure functions. `MemoryServerStore` makes it safe to share; a store in files writes the rows
/// that it has touched (`StoreRows`).
///
/// It may be a part of the store: a call needs only the replicas, objects and handlers that it names, and no entry of the log
/// (`StoreRowsNeeded`). A store in a database reads those rows, calls, and writes what was touched.
package struct ServerLog: Sendable {
  package struct Entry: Sendable {
    package enum Body: Sendable {
      case changeset(Changeset, user: String)
      case refusal(ReplicaID, Refusal, SyncErrorCode, String)
      case purge(Purge)
    }

    package var body: Body
    /// The approximate size on the wire.
    package var bytes: Int
    /// The previous states of the objects that it, and the later entries of its transaction, touched; nil if they were not stored.
    package var before: [ObjectBefore]?
  }

  package struct Replica: Sendable {
    package var secret: [UInt8]
    package var user: String
    var gate = UploadGate()
    var judgedStamp = Stamp.zero
    /// The base of its oldest unacknowledged changeset.
    package var pendingBase = Seq.zero
    var cursor = Seq.zero
    var refusalSeen = Seq.zero {
      didSet { refusals.removeAll { $0.seq <= refusalSeen } }
    }
    /// The refusals that it has not seen.
    var refusals: [(seq: Seq, clientSeq: UInt64)] = []
    package var seenAt: Int64
  }

  package struct Handler: Sendable {
    package var cursor: Seq
    /// The replica as which it writes; nil until it has written.
    package var author: ReplicaID?
    package var fence: UInt64 = 0
    package var leaseEnd: Int64 = .min

    package init(cursor: Seq) { self.cursor = cursor }

    package var standing: HandlerStanding { HandlerStanding(cursor: cursor, leaseEnd: leaseEnd) }
  }

  package var history: [UInt8]
  package var state = MemoryState()
  /// The objects of the state, in order.
  var order = ObjectOrder()
  /// The entries after `base`.
  package var log: [Entry] = []
  /// Where the log begins: the entries after this one exist.
  package var logStart = Seq.zero
  /// Where the loaded part of the log begins: at the log's start, or later.
  var base = Seq.zero
  package var replicas: [ReplicaID: Replica] = [:]
  package var expired: Set<ReplicaID> = []
  package var handlers: [String: Handler] = [:]
  /// What the replicas have declared of their types.
  package var schema = SyncSchema()
  /// Whether the store has event handlers, even if none is loaded.
  package var isHandled = false
  /// The highest stamps of the entries that no purge has covered yet, by number; kept when those are truncated.
  package var stamps: [(seq: Seq, stamp: Stamp)] = []
  /// The highest stamp of all entries there ever were.
  package var latest = Stamp.zero
  /// The last purge.
  package var purged = Purge(stable: .zero, floor: .zero)
  /// The differences to what was stored last.
  package var touched = TouchedLogRows()

  package init(history: [UInt8]) { self.history = history }

  /// Creates a stored log without any of its rows.
  package init(history: [UInt8], logStart: Seq, head: Seq, latest: Stamp, purged: Purge) {
    (self.history, self.logStart, base, self.latest, self.purged) = (history, logStart, head, latest, purged)
    state.setFloor(purged.floor)
  }

  package var head: Seq { Seq(base.rawValue + UInt64(log.count)) }

  var next: Seq { Seq(head.rawValue + 1) }

  /// The entry that every loaded handler has passed; the head if there is none.
  var lowestCursor: Seq { handlers.values.map(\.cursor).min() ?? head }

  mutating func append(_ body: Entry.Body, bytes: Int, before: [ObjectBefore]? = nil) {
    log.append(Entry(body: body, bytes: bytes, before: before))
  }

  /// A random id for a new history.
  package static func newHistory() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

  /// Marks everything as touched, for writing it to a new place.
  package mutating func touchAll() {
    touched.objects = Set(state.records.keys)
    (touched.replicas, touched.expired, touched.handlers) = (Set(replicas.keys), expired, !handlers.isEmpty)
    touched.schema = schema != SyncSchema()
  }

  mutating func set(_ replica: Replica?, _ id: ReplicaID) {
    replicas[id] = replica
    touched.replicas.insert(id)
  }

  /// The loaded entries, with their numbers.
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

  package mutating func declare(_ later: SyncSchema) throws(ServerStoreError) -> SyncSchema {
    let joined: SyncSchema
    do throws(SyncSchema.Difference) { joined = try schema.joined(by: later) } catch {
      throw ServerStoreError(.schemaConflict, error.description)
    }
    if joined == schema { return schema }
    guard joined.encoded.count <= SyncSchema.mostBytes else {
      throw ServerStoreError(.schemaConflict, "The store's types would take more than \(SyncSchema.mostBytes) bytes.")
    }
    schema = joined
    touched.schema = true
    return joined
  }

  package mutating func acknowledge(_ id: ReplicaID, _ state: Acknowledgement, at time: Int64) throws(ServerStoreError) {
    var replica = try replica(id)
    // A replica cannot be ahead of the log, whatever it reports: purges depend on it.
    replica.cursor = max(replica.cursor, min(state.cursor, head))
    replica.pendingBase = max(replica.pendingBase, min(state.pendingBase, replica.cursor))
    replica.refusalSeen = max(replica.refusalSeen, min(state.refusalSeen, replica.cursor))
    replica.seenAt = max(replica.seenAt, time)
    set(replica, id)
  }
}
