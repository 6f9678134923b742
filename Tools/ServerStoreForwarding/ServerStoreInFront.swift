import SyncModel
import SyncProtocol
import SyncServer

/// Stores in front of others. A wrapper names its base and writes anew only what it does otherwise: fail, die or look on at a call.
public protocol ServerStoreInFront: SyncServerStore {
  var base: any SyncServerStore { get }
}

extension ServerStoreInFront {
  public func makeStore(_ path: StorePath) async throws(ServerStoreError) { try await base.makeStore(path) }
  public func removeStore(_ path: StorePath) async throws(ServerStoreError) { try await base.removeStore(path) }
  public func stores() async throws(ServerStoreError) -> [StorePath] { try await base.stores() }
  public func size(of path: StorePath) async throws(ServerStoreError) -> Int { try await base.size(of: path) }
  public func heads(_ paths: [StorePath]) async throws(ServerStoreError) -> [StorePath: Seq] { try await base.heads(paths) }
  public func wakeups() async -> AsyncStream<StorePath> { await base.wakeups() }
  public func follow(_ path: StorePath) async { await base.follow(path) }
  public func unfollow(_ path: StorePath) async { await base.unfollow(path) }

  public func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    try await base.bind(path, replica, secret: secret, user: user, limit: limit, sparing: spared, at: time)
  }

  public func declare(_ path: StorePath, _ schema: SyncSchema) async throws(ServerStoreError) -> SyncSchema {
    try await base.declare(path, schema)
  }

  public func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome] {
    try await base.commit(path, replica, uploads, refusalSeen: refusalSeen, at: time, judge: judge)
  }

  public func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    try await base.changes(path, for: replica, after: seq, limitBytes: limitBytes)
  }

  public func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await base.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limitBytes)
  }

  public func objects(_ path: StorePath, asOf seq: Seq) async throws(ServerStoreError) -> [ObjectIdentity: ObjectState?] {
    try await base.objects(path, asOf: seq)
  }

  public func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError) {
    try await base.acknowledge(path, replica, state, at: time)
  }

  public func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge? {
    try await base.purge(path, expiry: expiry)
  }

  public func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError) {
    try await base.truncateLog(path, through: seq)
  }
}

/// Handlers of events.
extension ServerStoreInFront {
  public func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    try await base.claim(path, handler: handler, heldIn: history, fromStart: fromStart, until: end, at: time)
  }

  public func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    try await base.renew(path, lease, until: end, at: time)
  }

  public func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    try await base.advance(path, lease, to: cursor, writing: changesets, at: time)
  }

  public func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding] {
    try await base.handlers(path)
  }

  public func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError) {
    try await base.removeHandler(path, name)
  }
}
