import SyncModel
import SyncProtocol

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server without its sockets: serves every connection that it is given, from one place of stores.
///
/// ```swift
/// let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
/// await host.serve(transport)   // returns when the connection has ended
/// ```
///
/// **Threads.** Any task may call. **Cost.** A connection costs its messages; an entry wakes the sessions of its store, and no others.
public actor SyncHost {
  /// What is served.
  public nonisolated let stores: any SyncServerStore
  /// Who may do what.
  public nonisolated let access: any SyncAccess
  nonisolated let configuration: ServerConnectionConfiguration
  nonisolated let clock: @Sendable () -> Int64
  private var connections: [UInt64: HostedConnection] = [:]
  private var lastConnection: UInt64 = 0
  private var listeners: [StorePath: [Listener: HostedConnection]] = [:]
  private var watch: Task<Void, Never>?
  private var drain: UInt64?

  private struct Listener: Hashable {
    let connection: UInt64
    let key: SessionKey
  }

  /// A server of some stores.
  ///
  /// - Parameter clock: milliseconds since 1970.
  public init(
    stores: any SyncServerStore, access: any SyncAccess,
    configuration: ServerConnectionConfiguration = ServerConnectionConfiguration(),
    clock: @escaping @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
  ) {
    (self.stores, self.access, self.configuration, self.clock) = (stores, access, configuration, clock)
  }

  deinit { watch?.cancel() }

  /// Serves a connection until it ends.
  public func serve(_ transport: any SyncTransport) async {
    if let drain { return await HostedConnection(0, self, transport).sendAway(seconds: drain) }
    await watchStores()
    lastConnection += 1
    let number = lastConnection
    let connection = HostedConnection(number, self, transport)
    connections[number] = connection
    await connection.run()
    connections[number] = nil
  }

  /// How many connections there are.
  public var connectionCount: Int { connections.count }

  /// Ends the connections of a user, as when he is suspended.
  public func expel(_ user: String, _ refusal: SyncRefusal) async {
    for connection in connections.values where await connection.identity?.user == user { await connection.take(.expel(refusal)) }
  }

  /// Takes no connections any more, and tells all that there are to come back after so many seconds. What was sent to be taken in is.
  public func leave(comeBackAfter seconds: UInt64) async {
    drain = seconds
    for connection in connections.values { await connection.take(.drain(seconds: seconds)) }
    watch?.cancel()
  }

  // MARK: news

  func listen(_ path: StorePath, _ key: SessionKey, of connection: HostedConnection) {
    listeners[path, default: [:]][Listener(connection: connection.number, key: key)] = connection
  }

  func forget(_ path: StorePath, _ key: SessionKey, of connection: HostedConnection) {
    listeners[path]?[Listener(connection: connection.number, key: key)] = nil
    if listeners[path]?.isEmpty == true { listeners[path] = nil }
  }

  /// Before the first connection: so nothing is missed.
  private func watchStores() async {
    if watch != nil { return }
    let wakeups = await stores.wakeups()
    if watch != nil { return }
    watch = Task { [weak self] in for await path in wakeups { await self?.tell(path) } }
  }

  private func tell(_ path: StorePath) async {
    for (listener, connection) in listeners[path] ?? [:] { await connection.take(.news(listener.key)) }
  }

  // MARK: what connections ask

  /// Lets a replica into a store. Where the store is not there and the user may make it, it is made.
  func bind(_ path: StorePath, _ bind: Bind, _ identity: SyncIdentity) async -> Result<(StoreGrant, Standing), SyncRefusal> {
    do throws(SyncRefusal) {
      let grant = try await access.grant(to: identity, on: path)
      guard !grant.rights.isEmpty else { throw SyncRefusal(.unknownStore, "There is no store '\(path)' for '\(identity.user)'.") }
      guard grant.rights.contains(.read) else { throw SyncRefusal(.readDenied) }
      return .success((grant, try await bound(path, bind, identity, makes: grant.mayCreate)))
    } catch { return .failure(error) }
  }

  private func bound(
    _ path: StorePath, _ bind: Bind, _ identity: SyncIdentity, makes: Bool
  ) async throws(SyncRefusal) -> Standing {
    func asked() async throws(ServerStoreError) -> Standing {
      try await stores.bind(path, bind.replica, secret: bind.secret, user: identity.user, at: clock())
    }
    do throws(ServerStoreError) {
      do throws(ServerStoreError) { return try await asked() } catch {
        guard error.code == .unknownStore, makes else { throw error }
        // Another may make it in the same moment.
        do throws(ServerStoreError) { try await stores.makeStore(path) } catch { guard error.code == .storeExists else { throw error } }
        return try await asked()
      }
    } catch { throw SyncRefusal(error) }
  }
}
