import Logging
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
  /// What is let in of what users may write; nil lets all of it in.
  nonisolated let rules: WriteRules?
  nonisolated let configuration: ServerConnectionConfiguration
  nonisolated let clock: @Sendable () -> Int64
  /// What it has done.
  public nonisolated let counts = ServerCounts()
  private nonisolated let logger: Logger
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
  /// - Parameters:
  ///   - rules: judge each transaction of who may write, before it is taken in. One that is refused is undone on its device, with the
  ///     reason; the device's others stay.
  ///   - logger: is told who comes and goes, and what is refused; never a token.
  ///   - clock: milliseconds since 1970.
  public init(
    stores: any SyncServerStore, access: any SyncAccess, rules: WriteRules? = nil,
    configuration: ServerConnectionConfiguration = ServerConnectionConfiguration(),
    logger: Logger = Logger(label: "vivarium.server", factory: { _ in SwiftLogNoOpLogHandler() }),
    clock: @escaping @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
  ) {
    (self.stores, self.access, self.configuration, self.clock) = (stores, access, configuration, clock)
    self.rules = rules
    self.logger = logger
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
    counts.count { $0.connections += 1 }
    logger.debug("A connection began.", metadata: ["connection": "\(number)"])
    await connection.run()
    connections[number] = nil
    logger.debug("A connection ended.", metadata: ["connection": "\(number)"])
  }

  /// The stores that are bound now.
  public func sessions() async -> [SessionSummary] {
    var all: [SessionSummary] = []
    for connection in connections.values { all += await connection.summaries }
    return all.sorted { ($0.user, $0.path) < ($1.user, $1.path) }
  }

  /// Asks again what everybody may do who is there, after users or rights have changed: ends connections and sessions, or takes the right
  /// to write.
  public func recheck() async { await each { await $0.recheck() } }

  /// Every connection, beside the others: none waits for what another is busy with.
  private func each(_ body: @escaping @Sendable (HostedConnection) async -> Void) async {
    await withDiscardingTaskGroup { group in for connection in connections.values { group.addTask { await body(connection) } } }
  }

  /// Counts and logs what happened. No content and no token is in what is written.
  nonisolated func note(_ event: ServerConnectionEvent, of connection: UInt64) {
    counts.note(event)
    let about: Logger.Metadata = ["connection": "\(connection)"]
    func refused(_ what: String, _ code: SyncErrorCode, _ text: String) {
      logger.notice("\(what)", metadata: about.merging(["code": "\(code.rawValue)", "why": "\(text)"]) { $1 })
    }
    switch event {
    case .verified(.success(let identity)): logger.info("A user is let in.", metadata: about.merging(["user": "\(identity.user)"]) { $1 })
    case .verified(.failure(let refusal)): refused("A token was refused.", refusal.code, refusal.message)
    case .bound(_, .failure(let refusal)): refused("A store was refused.", refusal.code, refusal.message)
    case .expel(let refusal): refused("A connection was ended.", refusal.code, refusal.message)
    case .committed(_, .failure(let error)): refused("An upload could not be kept.", error.syncCode, error.message)
    case .entries(_, .failure(let error)), .acknowledged(_, .failure(let error)):
      refused("A store could not be used.", error.syncCode, error.message)
    default: break
    }
  }

  /// How many connections there are.
  public var connectionCount: Int { connections.count }

  /// Ends the connections of a user, as when he is suspended.
  public func expel(_ user: String, _ refusal: SyncRefusal) async {
    await each { connection in if await connection.identity?.user == user { await connection.take(.expel(refusal)) } }
  }

  /// Ends the connections of one log-in, as when it was logged out.
  public func expel(login: String) async {
    let refusal = SyncRefusal(.tokenInvalid, "The log-in has ended.")
    await each { connection in if await connection.identity?.login == login { await connection.take(.expel(refusal)) } }
  }

  /// Takes no connections any more, and tells all that there are to come back after so many seconds. What was sent to be taken in is.
  public func leave(comeBackAfter seconds: UInt64) async {
    drain = seconds
    await each { await $0.take(.drain(seconds: seconds)) }
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
