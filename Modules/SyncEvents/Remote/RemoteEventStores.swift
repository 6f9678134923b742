import Foundation
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer

/// A server's stores, for handlers of events in a program of their own: on another machine, or beside a server over a folder, which only
/// its own process can open.
///
/// ```swift
/// let stores = RemoteEventStores(try WebSocketConnector("wss://sync.example.org"), credentials: FixedToken(token))
/// let events = ServerEvents(stores, models: Order.self, Invoice.self)
/// try await events.on(store: "/*/orders", Order.self, named: "billing") { change, store in … }
/// await events.run()
/// ```
///
/// The user of the credentials has to be an administrator, or to have the right to manage `/__server/handlers`: handlers see and change
/// all stores. **Connection.** One, made with the first call, and again whenever it was lost: calls wait for it for up to
/// `Options.patience`, and are repeated on the next one where the answer was lost, without a second effect. **Threads.** Any task may call.
/// **Cost.** A call is a round trip. **Errors.** `ServerStoreError`, as the server's stores throw it; `.unavailable` if the server cannot
/// be reached or refuses the user, with the reason.
public actor RemoteEventStores: EventStores {
  /// How the connection is kept.
  public struct Options: Hashable, Sendable {
    /// How long a call waits for a connection.
    public var patience = Duration.seconds(20)
    /// The wait before the second attempt to connect; each further one doubles, up to `longestDelay`.
    public var firstDelay = Duration.milliseconds(100)
    /// The longest wait between attempts.
    public var longestDelay = Duration.seconds(5)
    /// The server counts as gone if nothing comes of it, and it takes nothing, for so long while an answer is waited for.
    public var answerTime = Duration.seconds(60)

    /// Creates the default options.
    public init() {}
  }

  private let connector: any SyncConnector
  private let credentials: any SyncCredentials
  private let name: String
  private let options: Options
  private let clock: @Sendable () -> Int64
  private var link: RemoteLink?
  private var opening: Task<Result<RemoteLink, RemoteFailure>, Never>?
  private var isTokenOld = false
  private var wasConnected = false
  private var isClosed = false
  /// How often each store is followed, and those of which a handler was claimed.
  private var followed: [StorePath: Int] = [:]
  private var claimed: Set<StorePath> = []
  /// The stores that the server was asked on this connection to tell news of, and what asks it at the beginning.
  private var said: Set<StorePath> = []
  private var settling: Task<Void, Never>?
  /// Calls that begin to follow a store.
  private var following: [StorePath: Task<Void, Never>] = [:]
  private var listeners: [UInt64: AsyncStream<StorePath>.Continuation] = [:]
  private var lastListener: UInt64 = 0

  /// Creates stores without a connection.
  ///
  /// - Parameters:
  ///   - credentials: whom the server lets in: a log-in (`SyncUser`), or a token that does not expire (`FixedToken`).
  ///   - name: of the program, for the server's log.
  ///   - clock: milliseconds since 1970, the same as that of `ServerEvents`.
  public init(
    _ connector: any SyncConnector, credentials: any SyncCredentials, name: String = "", options: Options = Options(),
    clock: @escaping @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
  ) {
    (self.connector, self.credentials, self.name, self.options, self.clock) = (connector, credentials, name, options, clock)
  }

  deinit {
    for listener in listeners.values { listener.finish() }
    if let link { Task { await link.close() } }
  }

  /// Ends the connection, and what waits for it. Calls fail from now on.
  public func close() async {
    isClosed = true
    for listener in listeners.values { listener.finish() }
    listeners = [:]
    await link?.close()
  }

  // MARK: the connection

  /// The connection that there is, or a new one.
  private func connected() async throws(RemoteFailure) -> RemoteLink {
    if isClosed { throw RemoteFailure("The connection was closed here.") }
    if let link { return link }
    let opening = opening ?? Task { await open() }
    self.opening = opening
    return try await opening.value.get()
  }

  private func open() async -> Result<RemoteLink, RemoteFailure> {
    defer { opening = nil }
    do throws(RemoteFailure) {
      let made: RemoteLink
      do throws(RemoteFailure) { made = try await attempt() } catch {
        guard error.wantsToken, !isTokenOld else { throw error }
        isTokenOld = true
        made = try await attempt()
      }
      isTokenOld = false
      if isClosed {
        await made.close()
        throw RemoteFailure("The connection was closed here.")
      }
      link = made
      let isNext = wasConnected
      (wasConnected, said) = (true, [])
      settling = Task { await settle(made, isNext: isNext) }
      return .success(made)
    } catch { return .failure(error) }
  }

  private func attempt() async throws(RemoteFailure) -> RemoteLink {
    var token = isTokenOld ? await credentials.token(isNew: true) : nil
    // One that does not change may be let in again, and the server says why not.
    if token == nil { token = await credentials.token(isNew: false) }
    guard let token else { throw RemoteFailure.noToken }
    return try await RemoteLink.open(
      connector, Hello(versions: [HandlerMessage.version], features: HandlerMessage.features, token: token, device: name),
      answerTime: options.answerTime,
      news: { [weak self] paths in await self?.hear(paths) }, ended: { [weak self] link in await self?.lost(link) })
  }

  /// Has a new connection tell what the one before told. What came in between was told to nobody.
  private func settle(_ link: RemoteLink, isNext: Bool) async {
    let paths = told.subtracting(said)
    said.formUnion(paths)
    if !paths.isEmpty { _ = await link.ask(.follow(Array(paths))) }
    if isNext, self.link === link { hear(Array(told)) }
  }

  /// A connection has ended: another one is made at once, for the news of what is followed.
  private func lost(_ link: RemoteLink) async {
    drop(link)
    guard !isClosed, !listeners.isEmpty else { return }
    // Where that fails, the next call connects.
    _ = try? await heads([])
  }

  private func drop(_ link: RemoteLink) { if self.link === link { self.link = nil } }

  private func hear(_ paths: [StorePath]) { for listener in listeners.values { for path in paths { listener.yield(path) } } }

  private func unlist(_ listener: UInt64) { listeners[listener] = nil }

  // MARK: calls

  /// Asks the server, on the next connection if this one is lost.
  private func ask<R: Sendable>(
    _ call: HandlerCall, _ read: (inout ByteReader) throws(CodingError) -> R
  ) async throws(ServerStoreError) -> R {
    var end: ContinuousClock.Instant?
    var delay = options.firstDelay
    while true {
      switch await answer(to: call) {
      case .success(.success(let content)): return try RemoteEventStores.decoded(content, read)
      case .success(.failure(let error)): throw error
      case .failure(let failure):
        let last = end ?? .now + options.patience
        end = last
        if isClosed || Task.isCancelled || !failure.mayPass || .now + delay > last {
          throw ServerStoreError(.unavailable, failure.message)
        }
        do { try await Task.sleep(for: delay) } catch { throw ServerStoreError(.unavailable, failure.message) }
        delay = min(delay * 2, options.longestDelay)
      }
    }
  }

  private func answer(to call: HandlerCall) async -> RemoteLink.Answer {
    do throws(RemoteFailure) {
      let link = try await connected()
      let answer = await link.ask(call)
      if case .failure(let failure) = answer {
        drop(link)
        if failure.wantsToken { isTokenOld = true }
      }
      return answer
    } catch { return .failure(error) }
  }

  private static func decoded<R>(
    _ content: [UInt8], _ read: (inout ByteReader) throws(CodingError) -> R
  ) throws(ServerStoreError) -> R {
    var reader = ByteReader(content)
    do throws(CodingError) {
      let result = try read(&reader)
      try reader.end()
      return result
    } catch {
      throw ServerStoreError(.unavailable, "An answer of the server cannot be read: \(error.reason) at byte \(error.position).")
    }
  }

  /// For a call that returns nothing.
  private func ask(_ call: HandlerCall) async throws(ServerStoreError) { try await ask(call) { _ throws(CodingError) in } }

  public func makeHandlerNames() async throws(ServerStoreError) { try await ask(.makeHandlerNames) }

  public func stores() async throws(ServerStoreError) -> [StorePath] {
    try await ask(.stores) { body throws(CodingError) in try body.paths() }
  }

  public func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    try await ask(.changes(path, replica: replica, after: seq, limitBytes: limitBytes)) { body throws(CodingError) in
      try body.logPage()
    }
  }

  public func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await ask(.objects(path, history: history, changedAfter: seq, behind: last, limitBytes: limitBytes)) { body throws(CodingError) in
      try body.page()
    }
  }

  public func past(_ path: StorePath, at seq: Seq) async throws(ServerStoreError) -> StorePast {
    try await ask(.past(path, at: seq)) { body throws(CodingError) in StorePast(asOf: try body.logSeq(), states: try body.states()) }
  }

  /// A claim whose answer was lost is repeated, and finds the lease with the first: nobody has it then until that ends.
  public func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    // The server tells the connection that claims; the next ones ask for it.
    claimed.insert(path)
    let milliseconds = RemoteEventStores.duration(end, time)
    return try await ask(
      .claim(path, handler: handler, history: history, fromStart: fromStart, milliseconds: milliseconds)
    ) { body throws(CodingError) in try body.flag() ? try body.lease() : nil }
  }

  public func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    try await ask(.renew(path, lease, milliseconds: RemoteEventStores.duration(end, time)))
  }

  private static func duration(_ end: Int64, _ time: Int64) -> Int64 {
    let (milliseconds, isTooFar) = end.subtractingReportingOverflow(time)
    return isTooFar ? .max : milliseconds
  }

  public func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding] {
    try await ask(.handlers(path)) { [clock] body throws(CodingError) in try body.handlers(at: clock()) }
  }

  public func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError) {
    try await ask(.removeHandler(path, name: name))
  }

  public func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    try await ask(.advance(path, lease, to: cursor, writing: changesets)) { body throws(CodingError) in try body.seqs() }
  }

  public func heads(_ paths: [StorePath]) async throws(ServerStoreError) -> [StorePath: Seq] {
    try await ask(.heads(paths)) { body throws(CodingError) in try body.heads() }
  }

  // MARK: news

  /// The stores that get an entry from now on; after a lost connection all that are followed, or had a handler claimed.
  public func wakeups() async -> AsyncStream<StorePath> {
    let (stream, listener) = AsyncStream.makeStream(of: StorePath.self)
    if isClosed {
      listener.finish()
      return stream
    }
    lastListener += 1
    listeners[lastListener] = listener
    listener.onTermination = { [weak self, lastListener] _ in Task { await self?.unlist(lastListener) } }
    return stream
  }

  public func follow(_ path: StorePath) async {
    let isFirst = followed[path] == nil
    followed[path, default: 0] += 1
    if isFirst { following[path] = Task { await self.say(path) } }
    // Who looks at the store afterwards has to hear of what comes then, also if somebody else has begun to follow it.
    await following[path]?.value
    if isFirst { following[path] = nil }
  }

  public func unfollow(_ path: StorePath) async {
    guard let count = followed[path] else { return }
    followed[path] = count > 1 ? count - 1 : nil
    guard count == 1, !claimed.contains(path), said.remove(path) != nil, let link else { return }
    _ = await link.ask(.unfollow([path]))
  }

  /// Of which stores the server is to tell news: those where a handler was claimed, too.
  private var told: Set<StorePath> { claimed.union(followed.keys) }

  /// Has the server tell news of a store. Where there is no connection now, the next one begins with that.
  private func say(_ path: StorePath) async {
    guard let link = try? await connected() else { return }
    await settling?.value
    guard followed[path] != nil, self.link === link, said.insert(path).inserted else { return }
    _ = await link.ask(.follow([path]))
  }
}
