import SyncModel
import SyncProtocol

/// Stores in memory, which end with the process: for tests, simulations and demonstrations. A transaction costs what it touches, a page
/// what it contains.
///
/// ```swift
/// let stores = MemoryServerStore()
/// try await stores.makeStore(path)
/// let standing = try await stores.bind(path, replica, secret: secret, user: "ann", at: now)
/// ```
public actor MemoryServerStore: SyncServerStore {
  private var logs: [StorePath: ServerLog] = [:]
  private var listeners: [UInt64: AsyncStream<StorePath>.Continuation] = [:]
  private var lastListener: UInt64 = 0
  private var random: any RandomNumberGenerator & Sendable

  /// - Parameter random: makes the ids of histories; a simulation passes a reproducible one.
  public init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) { self.random = random }

  public func makeStore(_ path: StorePath) throws(ServerStoreError) {
    guard logs[path] == nil else { throw ServerStoreError(.storeExists, "There is a store at \(path) already.") }
    let cursors = logs[HandlerNames.path]?.handlers.keys
    logs[path] = ServerLog(history: newHistory(), handlers: HandlerNames.handlers(of: path, in: Set(cursors.map(Array.init) ?? [])))
  }

  public func removeStore(_ path: StorePath) throws(ServerStoreError) {
    guard logs.removeValue(forKey: path) != nil else { throw ServerStoreError(.unknownStore, "There is no store at \(path).") }
    for listener in listeners.values { listener.yield(path) }
  }

  public func stores() -> [StorePath] { logs.keys.sorted() }

  public func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) throws(ServerStoreError) -> Standing {
    try change(path) { log throws(ServerStoreError) in
      try log.bind(replica, secret: secret, user: user, limit: limit, sparing: spared, at: time)
    }
  }

  /// O(the store).
  public func size(of path: StorePath) throws(ServerStoreError) -> Int { try log(path).size }

  public func declare(_ path: StorePath, _ schema: SyncSchema) throws(ServerStoreError) -> SyncSchema {
    try change(path) { log throws(ServerStoreError) in try log.declare(schema) }
  }

  public func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) throws(ServerStoreError) -> [UploadOutcome] {
    try change(path) { log throws(ServerStoreError) in
      try log.commit(replica, uploads, refusalSeen: refusalSeen, at: time, judge: judge)
    }
  }

  public func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) throws(ServerStoreError) -> LogPage {
    try log(path).changes(for: replica, after: seq, limitBytes: limitBytes)
  }

  public func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) throws(ServerStoreError) -> StatePage {
    try log(path).objects(of: history, changedAfter: seq, behind: last, limitBytes: limitBytes)
  }

  public func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) throws(ServerStoreError) {
    try change(path) { log throws(ServerStoreError) in try log.acknowledge(replica, state, at: time) }
  }

  public func purge(_ path: StorePath, expiry: Int64) throws(ServerStoreError) -> Purge? {
    try change(path) { log throws(ServerStoreError) in log.purge(expiry: expiry) }
  }

  /// Whether a replica is known. For simulations.
  package func remembers(_ replica: ReplicaID, _ path: StorePath) throws(ServerStoreError) -> Bool {
    try log(path).replicas[replica] != nil
  }

  public func truncateLog(_ path: StorePath, through seq: Seq) throws(ServerStoreError) {
    try change(path) { log throws(ServerStoreError) in log.truncate(through: seq) }
  }

  public func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) throws(ServerStoreError) -> HandlerLease? {
    try change(path) { log throws(ServerStoreError) in try log.claim(handler, heldIn: history, fromStart: fromStart, until: end, at: time) }
  }

  public func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) throws(ServerStoreError) {
    try change(path) { log throws(ServerStoreError) in try log.renew(lease, until: end, at: time) }
  }

  public func past(_ path: StorePath, at seq: Seq) throws(ServerStoreError) -> StorePast {
    try log(path).past(at: seq)
  }

  public func handlers(_ path: StorePath) throws(ServerStoreError) -> [String: HandlerStanding] {
    try log(path).handlers.mapValues(\.standing)
  }

  public func removeHandler(_ path: StorePath, _ name: String) throws(ServerStoreError) {
    try change(path) { log throws(ServerStoreError) in log.removeHandler(name) }
  }

  public func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) throws(ServerStoreError) -> [Seq] {
    try change(path) { log throws(ServerStoreError) in try log.advance(lease, to: cursor, writing: changesets, at: time) }
  }

  public func heads(_ paths: [StorePath]) -> [StorePath: Seq] {
    paths.reduce(into: [:]) { heads, path in heads[path] = logs[path]?.head }
  }

  public func wakeups() -> AsyncStream<StorePath> {
    let (stream, continuation) = AsyncStream.makeStream(of: StorePath.self)
    lastListener += 1
    let number = lastListener
    listeners[number] = continuation
    continuation.onTermination = { _ in Task { await self.forget(number) } }
    return stream
  }

  /// A backup of a store, for `restore`. O(1).
  public struct BackUp: Sendable {
    fileprivate let log: ServerLog
  }

  /// Makes a backup of a store.
  public func backUp(_ path: StorePath) throws(ServerStoreError) -> BackUp { BackUp(log: try log(path)) }

  /// Restores a store from a backup. Its history is a new one, so every replica begins anew: what was committed since is gone.
  public func restore(_ path: StorePath, _ backUp: BackUp) throws(ServerStoreError) {
    _ = try log(path)
    var log = backUp.log
    log.history = newHistory()
    logs[path] = log
    for listener in listeners.values { listener.yield(path) }
  }

  private func newHistory() -> [UInt8] { (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next() as UInt64) } }

  private func forget(_ listener: UInt64) { listeners[listener] = nil }

  private func log(_ path: StorePath) throws(ServerStoreError) -> ServerLog {
    guard let log = logs[path] else { throw ServerStoreError(.unknownStore, "There is no store at \(path).") }
    return log
  }

  /// Changes a store as a whole or not at all; notifies listeners of new entries.
  private func change<R>(
    _ path: StorePath, _ body: (inout ServerLog) throws(ServerStoreError) -> R
  ) throws(ServerStoreError) -> R {
    var log = try log(path)
    let before = log.head
    // With a second reference, each change would copy the whole log. A body that throws does so before it changes anything.
    logs[path] = nil
    defer { logs[path] = log }
    let result = try body(&log)
    // This store writes no rows.
    log.touched = TouchedLogRows()
    if log.head > before { for listener in listeners.values { listener.yield(path) } }
    return result
  }
}
