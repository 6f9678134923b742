import Logging
import SyncModel
import SyncProtocol
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server without sockets: serves the connections it is given, from one server store.
///
/// ```swift
/// let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
/// await host.serve(transport)   // returns when the connection has ended
/// ```
///
/// **Threads.** Any task may call. **Cost.** A connection costs its messages; a new entry wakes only the sessions of its store.
public actor SyncHost {
  /// The stores to serve.
  public nonisolated let stores: any SyncServerStore
  /// Authenticates users and decides their rights.
  public nonisolated let access: any SyncAccess
  /// The rules for transactions of users with the right to write; nil accepts all.
  nonisolated let rules: WriteRules?
  nonisolated let configuration: ServerConnectionConfiguration
  nonisolated let clock: @Sendable () -> Int64
  /// Counts of what the server has done.
  public nonisolated let counts = ServerCounts()
  /// The bytes of changesets that wait on all connections.
  nonisolated let uploadBytes = Atomic(0)
  /// What was compressed for a connection: others are sent the same.
  package nonisolated let bodies = CompressedBodies()
  private nonisolated let logger: Logger
  private var connections: [UInt64: HostedConnection] = [:]
  private var lastConnection: UInt64 = 0
  private var listeners: [StorePath: [Listener: HostedConnection]] = [:]
  private var watch: Task<Void, Never>?
  /// The stores whose sessions are being told of news.
  private var rounds: [StorePath: Round] = [:]
  private var lastRound: UInt64 = 0
  private var drain: UInt64?
  /// How many stores users had who were about to make one, and when they were counted.
  private var storeCounts: [String: (stores: Int, at: Int64)] = [:]
  /// The milliseconds for which such a count is believed: to list all stores costs more than to ask for one more again and again.
  static let countTime: Int64 = 1_000
  /// How many bytes stores have, how many are kept free there for uploads that are being committed, and which stores are being counted.
  var storeSizes: [StorePath: StoreSize] = [:]
  var storeBytesKept: [StorePath: Int] = [:]
  var storeCountsRunning: [StorePath: StoreSizeCount] = [:]

  /// One round after the other, while there is news.
  private struct Round {
    let number: UInt64
    let begun: ContinuousClock.Instant
    /// Whether there is news since it began.
    var hasNews = false
  }

  /// A round that takes longer is not waited for: a read that hangs holds up its session, and no others.
  private static let roundTime = Duration.seconds(1)

  private struct Listener: Hashable {
    let connection: UInt64
    let key: SessionKey
  }

  /// Creates a server of some stores.
  ///
  /// - Parameters:
  ///   - rules: judges each transaction of a user with the right to write, before it is committed. A refused one is undone on its device,
  ///     with the reason; the device's others stay.
  ///   - logger: logs connections and refusals, never a token.
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

  /// Checks the rights of all connected users again, after users or rights have changed: ends connections and sessions, or withdraws the
  /// right to write.
  public func recheck() async { await each { await $0.recheck() } }

  /// Calls the body for every connection concurrently, so that none waits for another.
  private func each(_ body: @escaping @Sendable (HostedConnection) async -> Void) async {
    await withDiscardingTaskGroup { group in for connection in connections.values { group.addTask { await body(connection) } } }
  }

  /// Counts and logs an event, without content or tokens.
  nonisolated func note(_ event: ServerConnectionEvent, of connection: UInt64) {
    counts.note(event)
    let about: Logger.Metadata = ["connection": "\(connection)"]
    switch event {
    case .verified(.success(let identity)): logger.info("A user is let in.", metadata: about.merging(["user": "\(identity.user)"]) { $1 })
    case .verified(.failure(let refusal)): log("A token was refused.", refusal, about)
    case .bound(_, .failure(let refusal)): log("A store was refused.", refusal, about)
    case .expel(let refusal): log("A connection was ended.", refusal, about)
    case .committed(_, .failure(let error)), .committedInPart(_, _, let error):
      log("An upload could not be kept.", SyncRefusal(error), about)
    case .declared(_, .failure(let error)), .entries(_, .failure(let error)), .objects(_, .failure(let error)),
      .acknowledged(_, .failure(let error)), .head(_, _, .failure(let error)):
      log("A store could not be used.", SyncRefusal(reading: error), about)
    default: break
    }
  }

  /// Logs that a program with handlers of events begins.
  nonisolated func noteHandlers(of identity: SyncIdentity, _ name: String) {
    logger.info("Handlers of events are let in.", metadata: ["user": "\(identity.user)", "name": "\(name)"])
  }

  /// Counts and logs why the connection of a program with handlers ends.
  nonisolated func noteEnd(_ refusal: SyncRefusal) {
    counts.refused(refusal.code)
    log("A connection of handlers was ended.", refusal, [:])
  }

  /// Counts and logs that a request beside connections could not be answered, because the server's data cannot be used.
  package nonisolated func note(_ refusal: SyncRefusal) {
    guard refusal.code == .storageUnavailable else { return }
    counts.refused(refusal.code)
    log("A request could not be answered.", refusal, [:])
  }

  /// What the operator has to act on is an error, and what a client has to act on is none of the server's.
  private nonisolated func log(_ what: String, _ refusal: SyncRefusal, _ about: Logger.Metadata) {
    let level: Logger.Level = refusal.code == .storageUnavailable ? .error : .notice
    logger.log(
      level: level, "\(what)", metadata: about.merging(["code": "\(refusal.code.rawValue)", "why": "\(refusal.logged)"]) { $1 })
  }

  /// The number of connections.
  public var connectionCount: Int { connections.count }

  /// Ends the connections of a user, for example when he is suspended.
  public func expel(_ user: String, _ refusal: SyncRefusal) async {
    await each { await $0.expel(refusal) { $0.user == user } }
  }

  /// Ends the connections of one log-in, for example when it was logged out.
  public func expel(login: String) async {
    let refusal = SyncRefusal(.tokenInvalid, "The log-in has ended.")
    await each { await $0.expel(refusal) { $0.login == login } }
  }

  /// Accepts no more connections, and tells the clients to reconnect after this many seconds. Uploads already passed to the stores are
  /// committed.
  public func leave(comeBackAfter seconds: UInt64) async {
    drain = seconds
    await each { await $0.leave(seconds: seconds) }
    watch?.cancel()
  }

  // MARK: news

  /// Has a session told of news. Called before it binds and reads, so that it misses none.
  func listen(_ path: StorePath, _ key: SessionKey, of connection: HostedConnection) async {
    let before = listeners[path, default: [:]].updateValue(connection, forKey: Listener(connection: connection.number, key: key))
    if before == nil { await stores.follow(path) }
  }

  func forget(_ path: StorePath, _ key: SessionKey, of connection: HostedConnection) async {
    let before = listeners[path]?.removeValue(forKey: Listener(connection: connection.number, key: key))
    if listeners[path]?.isEmpty == true { listeners[path] = nil }
    if before != nil { await stores.unfollow(path) }
  }

  /// Begins before the first connection, so that nothing is missed.
  private func watchStores() async {
    if watch != nil { return }
    let wakeups = await stores.wakeups()
    if watch != nil { return }
    watch = Task { [weak self] in for await path in wakeups { await self?.tell(path) } }
  }

  /// Tells all sessions of a store at once, and stores independently of each other. News that comes while sessions are being told, and read
  /// it, is told once, however much it is: so a busy server falls behind by one round at most, and sends more in one message.
  private func tell(_ path: StorePath) {
    if let round = rounds[path], .now - round.begun < SyncHost.roundTime {
      if round.hasNews { return }
      rounds[path]?.hasNews = true
      Task { await tellLate(path, round.number) }
      return
    }
    lastRound += 1
    rounds[path] = Round(number: lastRound, begun: .now)
    Task { [lastRound] in await tellAll(path, lastRound) }
  }

  /// Tells the news that waits for a round which has not ended in its time.
  private func tellLate(_ path: StorePath, _ number: UInt64) async {
    do { try await Task.sleep(for: SyncHost.roundTime) } catch { return }
    if let round = rounds[path], round.number == number, round.hasNews { tell(path) }
  }

  private func tellAll(_ path: StorePath, _ number: UInt64) async {
    repeat {
      rounds[path] = Round(number: number, begun: .now)
      await withDiscardingTaskGroup { group in
        for (listener, connection) in listeners[path] ?? [:] { group.addTask { await connection.tell(listener.key) } }
      }
      // Another began because this one took too long.
      guard rounds[path]?.number == number else { return }
    } while rounds[path]?.hasNews == true
    rounds[path] = nil
  }

  // MARK: calls of connections

  /// Binds a replica to a store; creates the store if it does not exist, the user may create it, and the replica is new. A replica that
  /// knows a history had the store: it was removed, and making an empty one would take from the device what it has.
  func bind(_ path: StorePath, _ bind: Bind, _ identity: SyncIdentity) async -> Result<(StoreGrant, Standing), SyncRefusal> {
    do throws(SyncRefusal) {
      let grant = try await access.grant(to: identity, on: path)
      guard !grant.rights.isEmpty else { throw SyncRefusal(.unknownStore, "There is no store '\(path)' for '\(identity.user)'.") }
      guard grant.rights.contains(.read) else { throw SyncRefusal(.readDenied) }
      return .success((grant, try await bound(path, bind, identity, makes: grant.mayCreate && bind.history.isEmpty)))
    } catch { return .failure(error) }
  }

  private func bound(
    _ path: StorePath, _ bind: Bind, _ identity: SyncIdentity, makes: Bool
  ) async throws(SyncRefusal) -> Standing {
    func asked(sparing spared: Set<ReplicaID>? = nil) async throws(ServerStoreError) -> Standing {
      try await stores.bind(
        path, bind.replica, secret: bind.secret, user: identity.user, limit: configuration.replicasOfUser, sparing: spared, at: clock())
    }
    do throws(ServerStoreError) {
      do throws(ServerStoreError) { return try await asked() } catch {
        guard error.code == .quotaExceeded else { throw error }
      }
      return try await asked(sparing: await connectedReplicas(at: path))
    } catch {
      guard error.code == .unknownStore, makes else { throw SyncRefusal(error) }
    }
    try await checkRoom(for: path, of: identity)
    do throws(ServerStoreError) {
      // Another call may create it at the same moment.
      do throws(ServerStoreError) { try await stores.makeStore(path) } catch { guard error.code == .storeExists else { throw error } }
      return try await asked()
    } catch { throw SyncRefusal(error) }
  }

  /// The replicas of a store that are connected here.
  private func connectedReplicas(at path: StorePath) async -> Set<ReplicaID> {
    var replicas: Set<ReplicaID> = []
    for (listener, connection) in listeners[path] ?? [:] {
      if let replica = await connection.replica(of: listener.key) { replicas.insert(replica) }
    }
    return replicas
  }

  /// Counts a store that a user is about to make. Throws `.quotaExceeded` if he has as many as he may have.
  private func checkRoom(for path: StorePath, of identity: SyncIdentity) async throws(SyncRefusal) {
    let own = "/\(identity.user)/"
    guard let limit = configuration.storesOfUser, !identity.isAdministrator, path.text.hasPrefix(own), !path.isOfManagement else { return }
    let now = clock()
    var known = storeCounts[identity.user]
    if known.map({ now - $0.at >= SyncHost.countTime }) ?? true {
      let all: [StorePath]
      do throws(ServerStoreError) { all = try await stores.stores() } catch { throw SyncRefusal(error) }
      known = (all.count { $0.text.hasPrefix(own) && !$0.isOfManagement }, now)
    }
    guard let known, known.stores < limit else {
      storeCounts[identity.user] = known
      throw SyncRefusal(.quotaExceeded, "There are \(limit) stores of '\(identity.user)', and no more can be made.")
    }
    if storeCounts.count > 10_000 { storeCounts = [:] }
    storeCounts[identity.user] = (known.stores + 1, known.at)
  }
}
