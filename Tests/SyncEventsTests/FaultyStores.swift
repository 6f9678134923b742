import ServerStoreForwarding
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import VivariumTestSupport

/// Stores that cannot be reached now and then: before something is done, or after it, so that nobody knows whether it was. Without a
/// generator they always can; tests may look on or hold something up.
final class FaultyStores: ServerStoreInFront {
  let base: any SyncServerStore
  private let random: Mutex<SeededGenerator?>
  private let willReadPast: @Sendable () async -> Void
  private let willRenew: @Sendable (StorePath) throws(ServerStoreError) -> Void
  private let hasRenewed: @Sendable () -> Void
  private let willWrite: @Sendable () throws(ServerStoreError) -> Void
  private let willPurge: @Sendable (StorePath) throws(ServerStoreError) -> Void
  private let listed: @Sendable ([StorePath]) -> [StorePath]
  private let willClaim: @Sendable (StorePath) async throws(ServerStoreError) -> Void
  private let hasClaimed: @Sendable (StorePath) async -> Void
  private let willTellHandlers: @Sendable () throws(ServerStoreError) -> Void
  private let willRemoveHandler: @Sendable (StorePath, String) async throws(ServerStoreError) -> Void
  private let hearsNews: Bool
  /// How often each path is followed.
  let followers = Mutex<[StorePath: Int]>([:])

  init(
    _ base: any SyncServerStore, _ random: SeededGenerator?, willReadPast: @escaping @Sendable () async -> Void = {},
    willClaim: @escaping @Sendable (StorePath) async throws(ServerStoreError) -> Void = { _ in },
    hasClaimed: @escaping @Sendable (StorePath) async -> Void = { _ in },
    willRenew: @escaping @Sendable (StorePath) throws(ServerStoreError) -> Void = { _ in },
    hasRenewed: @escaping @Sendable () -> Void = {}, willWrite: @escaping @Sendable () throws(ServerStoreError) -> Void = {},
    willPurge: @escaping @Sendable (StorePath) throws(ServerStoreError) -> Void = { _ in },
    willTellHandlers: @escaping @Sendable () throws(ServerStoreError) -> Void = {},
    willRemoveHandler: @escaping @Sendable (StorePath, String) async throws(ServerStoreError) -> Void = { _, _ in },
    listed: @escaping @Sendable ([StorePath]) -> [StorePath] = { $0 }, hearsNews: Bool = true
  ) {
    self.base = base
    self.random = Mutex(random)
    (self.willReadPast, self.willRenew, self.hasRenewed, self.hearsNews) = (willReadPast, willRenew, hasRenewed, hearsNews)
    (self.willClaim, self.hasClaimed, self.willTellHandlers) = (willClaim, hasClaimed, willTellHandlers)
    (self.willWrite, self.willPurge, self.listed) = (willWrite, willPurge, listed)
    self.willRemoveHandler = willRemoveHandler
  }

  private func fail(oneIn count: Int) throws(ServerStoreError) {
    if random.withLock({ $0?.oneIn(count) }) == true { throw ServerStoreError(.unavailable, "It is not in reach.") }
  }

  private func faulty<R: Sendable>(
    _ count: Int = 6, _ body: () async throws(ServerStoreError) -> R
  ) async throws(ServerStoreError) -> R {
    try fail(oneIn: count)
    let result = try await body()
    try fail(oneIn: count)
    return result
  }

  func stores() async throws(ServerStoreError) -> [StorePath] {
    listed(try await faulty { () throws(ServerStoreError) in try await base.stores() })
  }

  func changes(_ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int) async throws(ServerStoreError) -> LogPage {
    // Small pages, so that many things happen between them.
    try await faulty { () throws(ServerStoreError) in
      try await base.changes(path, for: replica, after: seq, limitBytes: min(limitBytes, 300))
    }
  }

  func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await faulty { () throws(ServerStoreError) in
      try await base.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: min(limitBytes, 300))
    }
  }

  func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge? {
    try willPurge(path)
    return try await base.purge(path, expiry: expiry)
  }

  func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    try await willClaim(path)
    let lease = try await faulty { () throws(ServerStoreError) in
      try await base.claim(path, handler: handler, heldIn: history, fromStart: fromStart, until: end, at: time)
    }
    await hasClaimed(path)
    return lease
  }

  func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    try willRenew(path)
    // Where it is not given back it is as if the process had died.
    try await faulty(2) { () throws(ServerStoreError) in try await base.renew(path, lease, until: end, at: time) }
    hasRenewed()
  }

  func past(_ path: StorePath, at seq: Seq) async throws(ServerStoreError) -> StorePast {
    await willReadPast()
    return try await faulty { () throws(ServerStoreError) in try await base.past(path, at: seq) }
  }

  func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding] {
    try willTellHandlers()
    return try await faulty { () throws(ServerStoreError) in try await base.handlers(path) }
  }

  func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError) {
    try await willRemoveHandler(path, name)
    try await base.removeHandler(path, name)
  }

  func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    if !changesets.isEmpty { try willWrite() }
    return try await faulty(3) { () throws(ServerStoreError) in
      try await base.advance(path, lease, to: cursor, writing: changesets, at: time)
    }
  }

  func follow(_ path: StorePath) async {
    followers.withLock { $0[path, default: 0] += 1 }
    await base.follow(path)
  }

  func unfollow(_ path: StorePath) async {
    followers.withLock { $0[path, default: 0] -= 1 }
    await base.unfollow(path)
  }

  func wakeups() async -> AsyncStream<StorePath> {
    if hearsNews { return await base.wakeups() }
    return AsyncStream.makeStream(of: StorePath.self).stream
  }
}
