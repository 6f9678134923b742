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
    /// The previous states of the objects that it, and the later entries of its transaction, touched, and that nothing since the
    /// checkpoint has touched; of a purge, those of the objects whose epochs it has forgotten. nil if they were not stored.
    package var before: [ObjectBefore]?
    /// The last checkpoint before it.
    package var checkpoint: Seq?
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

    /// Whether nobody has it any more: it is of an earlier history, or another of its user has taken its place.
    var isNobodys: Bool { user.isEmpty }

    /// Makes it nobody's: whoever had it comes back as another, and it counts no more. It goes on holding back what is forgotten, as long
    /// as one that is away: what was taken of the device and not acknowledged has to be recognized when the device does its changes again.
    mutating func giveUp() { (user, secret) = ("", []) }
  }

  package struct Handler: Sendable {
    package var cursor: Seq
    /// The replica as which it writes; nil until it has written.
    package var author: ReplicaID?
    package var fence: UInt64 = 0
    /// `.min` if nobody has had it yet.
    package var leaseEnd: Int64 = .min

    package init(cursor: Seq) { self.cursor = cursor }

    /// Grants the next lease. If a handler of the name was removed before this one was made, its leases have lower fences, as there is less
    /// than one claim a second: none of them is good for this one.
    mutating func lease(until end: Int64, at time: Int64) {
      if leaseEnd == .min { fence = max(fence, UInt64(max(0, time) / 1_000)) }
      fence += 1
      leaseEnd = end
    }

    package var standing: HandlerStanding { HandlerStanding(cursor: cursor, leaseEnd: leaseEnd) }
  }

  package var history: [UInt8]
  package var state = MemoryState()
  /// The objects of the state, in order.
  var order = ObjectOrder()
  /// The entries after `base`.
  package var log: [Entry] = []
  /// Where the log begins: the entries after this one exist.
  package var logStart = Seq.zero {
    didSet { if let checkpoint, checkpoint.seq < logStart { self.checkpoint = nil } }
  }
  /// Where the loaded part of the log begins: at the log's start, or later.
  var base = Seq.zero
  package var replicas: [ReplicaID: Replica] = [:]
  package var expired: Set<ReplicaID> = []
  package var handlers: [String: Handler] = [:]
  /// What the replicas have declared of their types.
  package var schema = SyncSchema()
  /// Whether the store has event handlers, even if none is loaded.
  package var isHandled = false
  /// The last checkpoint; nil if not everything that came behind it was kept.
  package var checkpoint: Checkpoint?
  /// Of some entries that are not loaded the checkpoints, each by the number of the entry before.
  package var checkpoints: [Seq: Seq] = [:]
  /// Whether it may be a part of the store.
  private(set) var isPart = false
  /// The highest stamps of the entries that no purge has covered yet, by number; kept when those are truncated.
  package var stamps: [(seq: Seq, stamp: Stamp)] = []
  /// The highest stamp of all entries there ever were.
  package var latest = Stamp.zero
  /// The last purge.
  package var purged = Purge(stable: .zero, floor: .zero)
  /// The differences to what was stored last.
  package var touched = TouchedLogRows()

  package init(history: [UInt8]) { self.history = history }

  /// Creates the log of a new store with some handlers, which nobody has had yet: they begin with its first entry.
  package init(history: [UInt8], handlers names: Set<String>) {
    self.init(history: history)
    for name in names { handlers[name] = Handler(cursor: .zero) }
  }

  /// Creates a stored log without any of its rows.
  package init(history: [UInt8], logStart: Seq, head: Seq, latest: Stamp, purged: Purge) {
    (self.history, self.logStart, base, self.latest, self.purged) = (history, logStart, head, latest, purged)
    state.setFloor(purged.floor)
    isPart = true
  }

  package var head: Seq { Seq(base.rawValue + UInt64(log.count)) }

  var next: Seq { Seq(head.rawValue + 1) }

  /// The bytes of the loaded entries and objects. O(those).
  package var size: Int {
    let entries = log.reduce(0) { $0 + $1.bytes }
    return state.records.keys.reduce(entries) { $0 + (Merge.objectState(of: $1, in: state)?.encoded().count ?? 0) }
  }

  /// The entry that every loaded handler has passed; the head if there is none.
  package var lowestCursor: Seq { handlers.values.map(\.cursor).min() ?? head }

  mutating func append(_ body: Entry.Body, bytes: Int, before: [ObjectBefore]? = nil) {
    log.append(Entry(body: body, bytes: bytes, before: before, checkpoint: checkpoint?.seq))
    checkpoint?.note(entryOf: bytes)
  }

  /// Gives the log another history. No replica of the one before comes back, because each device begins anew as another.
  ///
  /// If only a part of the log is loaded, all replicas must be.
  package mutating func renewHistory() {
    history = ServerLog.newHistory()
    for (id, var replica) in replicas where !id.isHandler {
      replica.giveUp()
      set(replica, id)
    }
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
    guard let replica = replicas[id], !replica.isNobodys else {
      throw ServerStoreError(.replicaExpired, "The replica \(id) is not known.")
    }
    return replica
  }

  /// The milliseconds for which a replica was not seen whose place another of its user may take.
  package static let absence: Int64 = 24 * 3_600_000

  /// The replica of a user that was not seen for the longest time, among those that are loaded; nil if all were seen lately.
  private func longestAbsent(of user: String, sparing spared: Set<ReplicaID>?, at time: Int64) -> ReplicaID? {
    guard let spared else { return nil }
    let those = replicas.filter { $0.value.user == user && !$0.key.isHandler && !spared.contains($0.key) }
    let oldest = those.min { ($0.value.seenAt, $0.key) < ($1.value.seenAt, $1.key) }
    return oldest.flatMap { $0.value.seenAt <= time - ServerLog.absence ? $0.key : nil }
  }

  /// Binds a replica. Of a user who has as many as he may have, the one that was not seen for the longest time is given up for a new
  /// one, if it was away for a day.
  ///
  /// - Parameters:
  ///   - limit: how many replicas a user may have.
  ///   - others: how many the user has; nil counts those that are loaded. If there are as many as the limit, the one that was not seen for
  ///     the longest time must be loaded, without those that are spared.
  ///   - spared: replicas that are not given up; nil to give up none.
  package mutating func bind(
    _ id: ReplicaID, secret: [UInt8], user: String, limit: Int = .max, others: Int? = nil, sparing spared: Set<ReplicaID>? = [],
    at time: Int64
  ) throws(ServerStoreError) -> Standing {
    if id.isHandler { throw ServerStoreError(.replicaTaken, "The replica \(id) is a handler's.") }
    if expired.contains(id) { throw ServerStoreError(.replicaExpired, "The replica \(id) was away for too long.") }
    if replicas[id]?.isNobodys == true { throw ServerStoreError(.replicaExpired, "The replica \(id) was given up.") }
    if replicas[id] == nil, limit < .max {
      let count = others ?? replicas.count { $0.value.user == user && !$0.key.isHandler }
      if count >= limit {
        guard let absent = longestAbsent(of: user, sparing: spared, at: time), var gone = replicas[absent] else {
          throw ServerStoreError(.quotaExceeded, "'\(user)' has \(count) devices at this store, and may have \(limit).")
        }
        gone.giveUp()
        set(gone, absent)
      }
    }
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
