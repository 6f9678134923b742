import SyncModel
import SyncProtocol
import SyncServer

/// Stores as handlers of events use them, in front of others: as `ServerStoreInFront`.
public protocol EventStoresInFront: EventStores {
  var events: any EventStores { get }
}

extension EventStoresInFront {
  public func makeHandlerNames() async throws(ServerStoreError) { try await events.makeHandlerNames() }
  public func stores() async throws(ServerStoreError) -> [StorePath] { try await events.stores() }
  public func heads(_ paths: [StorePath]) async throws(ServerStoreError) -> [StorePath: Seq] { try await events.heads(paths) }
  public func wakeups() async -> AsyncStream<StorePath> { await events.wakeups() }
  public func follow(_ path: StorePath) async { await events.follow(path) }
  public func unfollow(_ path: StorePath) async { await events.unfollow(path) }

  public func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    try await events.changes(path, for: replica, after: seq, limitBytes: limitBytes)
  }

  public func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await events.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limitBytes)
  }

  public func past(_ path: StorePath, at seq: Seq) async throws(ServerStoreError) -> StorePast {
    try await events.past(path, at: seq)
  }

  public func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    try await events.claim(path, handler: handler, heldIn: history, fromStart: fromStart, until: end, at: time)
  }

  public func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    try await events.renew(path, lease, until: end, at: time)
  }

  public func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    try await events.advance(path, lease, to: cursor, writing: changesets, at: time)
  }

  public func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding] {
    try await events.handlers(path)
  }

  public func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError) {
    try await events.removeHandler(path, name)
  }
}
