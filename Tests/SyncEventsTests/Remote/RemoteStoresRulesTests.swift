import ServerStoreForwarding
import SyncClient
import SyncEvents
import SyncModel
import SyncServer
import SyncServerConformance
import Synchronization
import Testing

/// A handler's calls mean the same over a connection as in the server's process.
@Suite struct RemoteStoresRulesTests {
  @Test(arguments: SyncServerConformance.allChecks) func rule(_ check: ServerStoreCheck) async throws {
    try await check.run(StoresApart(MemoryServerStore()))
  }
}

/// A server's stores, of which handlers of events use all over a connection.
private final class StoresApart: ServerStoreInFront {
  let base: any SyncServerStore
  private let remote: RemoteEventStores
  private let time: Time

  /// The server's clock: the rules say with each call what it shows.
  private final class Time: Sendable {
    let now = Atomic<Int64>(0)
  }

  init(_ base: any SyncServerStore) {
    let time = Time()
    let clock: @Sendable () -> Int64 = { time.now.load(ordering: .relaxed) }
    let host = SyncHost(stores: base, access: OpenAccess(), clock: clock)
    (self.base, self.time) = (base, time)
    remote = RemoteEventStores(HostConnector(host: host), credentials: FixedToken("handlers"), clock: clock)
  }

  var events: any EventStores { remote }

  // A program hears of the stores that it follows; the rules listen to a server's.
  func wakeups() async -> AsyncStream<StorePath> { await base.wakeups() }
  func follow(_ path: StorePath) async { await base.follow(path) }
  func unfollow(_ path: StorePath) async { await base.unfollow(path) }

  func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    self.time.now.store(time, ordering: .relaxed)
    return try await remote.claim(path, handler: handler, heldIn: history, fromStart: fromStart, until: end, at: time)
  }

  func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    self.time.now.store(time, ordering: .relaxed)
    try await remote.renew(path, lease, until: end, at: time)
  }

  func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    self.time.now.store(time, ordering: .relaxed)
    return try await remote.advance(path, lease, to: cursor, writing: changesets, at: time)
  }
}
