import SyncModel
import SyncProtocol
import Synchronization

/// Runs one connection of a host: passes events to the state machine, and performs its effects.
actor HostedConnection {
  let number: UInt64
  private let host: SyncHost
  private let transport: any SyncTransport
  private var machine: ServerConnection
  private let outgoing: AsyncStream<[[UInt8]]>.Continuation
  private let parts: AsyncStream<[[UInt8]]>
  /// How often parts went to the task that sends, and are not sent yet.
  private var unsent = 0
  private var timers: [ServerConnectionTimer: Task<Void, Never>] = [:]
  /// The task that reads the connection, suspended while too much received data waits.
  private var reader: CheckedContinuation<Void, Never>?
  /// Those who wait for what clients send next, and for which sessions they still do.
  private var lookers: [CheckedContinuation<Void, Never>] = []
  private var waitedFor: Set<SessionKey> = []
  private var isOver = false
  /// Nothing can be sent any more.
  private var isBroken = false
  /// Its part of the bytes of changesets that wait on all connections, as it was counted last.
  private var uploadBytes = 0
  /// Closes the connection if the other side does not take the last message.
  private var farewell: Task<Void, Never>?
  /// How often users, rights or the token may have changed.
  private var changes = 0
  /// The check of the user's rights that is running, and the one that begins when it has ended.
  private var runningCheck: Task<Void, Never>?
  private var waitingCheck: Task<Void, Never>?
  /// The check after one that could not determine everything.
  private var laterCheck: Task<Void, Never>?
  /// What the connection became with its first part, if that is of a program with handlers of events.
  private var handlers: HandlerConnection?

  init(_ number: UInt64, _ host: SyncHost, _ transport: any SyncTransport) {
    (self.number, self.host, self.transport) = (number, host, transport)
    machine = ServerConnection(host.configuration, sharing: host.bodies)
    (parts, outgoing) = AsyncStream.makeStream(of: [[UInt8]].self)
  }

  private var identity: SyncIdentity? { machine.identity }

  var summaries: [SessionSummary] {
    guard let identity else { return [] }
    let backlog = machine.backlog
    return machine.bound.map { SessionSummary(user: identity.user, path: $0.path.text, backlog: backlog) }
  }

  /// The replica of a session; nil after its end.
  func replica(of key: SessionKey) -> ReplicaID? { machine.replica(of: key) }

  /// Checks again whether the user may continue, and his rights on the bound stores. They count when it returns; what cannot be determined
  /// stays as it is, and is checked again later.
  ///
  /// One check runs after the other, so that what an earlier one has read is not applied after a later one. Calls that wait share one.
  func recheck() async {
    if let handlers { return await handlers.recheck() }
    changes += 1
    if let waitingCheck { return await waitingCheck.value }
    let check = Task { [runningCheck] in
      await runningCheck?.value
      (self.runningCheck, waitingCheck) = (waitingCheck, nil)
      await checkRights()
      self.runningCheck = nil
    }
    waitingCheck = check
    await check.value
  }

  /// Ends the connection if the user is meant. If it is not known yet who it is, that is checked when it is.
  func expel(_ refusal: SyncRefusal, if isMeant: @Sendable (SyncIdentity) -> Bool) async {
    if let handlers { return await handlers.expel(refusal, if: isMeant) }
    changes += 1
    if let identity, isMeant(identity) { take(.expel(refusal)) }
  }

  private func checkRights() async {
    guard let identity else { return }
    let access = host.access
    var isWhole = true
    let refusal = await result { () throws(SyncRefusal) in try await access.refusal(of: identity) }
    // A token that came meanwhile has a check of its own.
    guard self.identity == identity else { return }
    switch refusal {
    case .success(let refusal?): return take(.expel(refusal))
    case .success(.none): break
    case .failure: isWhole = false
    }
    for (key, path) in machine.bound {
      let grant = await result { () throws(SyncRefusal) in try await access.grant(to: identity, on: path) }
      guard self.identity == identity else { return }
      switch grant {
      case .success(let grant): take(.granted(key, grant))
      case .failure: isWhole = false
      }
    }
    if !isWhole { checkLater() }
  }

  private func checkLater() {
    if isOver { return }
    laterCheck?.cancel()
    let delay = host.configuration.recheckTime
    laterCheck = Task { [weak self] in
      do { try await Task.sleep(for: .milliseconds(delay)) } catch { return }
      await self?.recheck()
    }
  }

  /// Runs until the connection has ended.
  func run() async {
    let sending = Task { await send() }
    perform(machine.begin(at: host.clock()))
    var isFirst = true
    while !isOver {
      guard let part = await received() else { break }
      if isFirst, HandlerMessage.begins(part) {
        await runHandlers(part)
        break
      }
      isFirst = false
      take(.received(part))
      await untilThereIsRoom()
    }
    take(.disconnected)
    await sending.value
    // Further messages of the client are ignored, but it must receive everything that was sent to it.
    await transport.close()
  }

  /// Serves a program with handlers on the connection, which has sent this part, until it has ended.
  private func runHandlers(_ part: [UInt8]) async {
    let handlers = HandlerConnection(host, transport)
    self.handlers = handlers
    // The greeting that this one waited for comes there.
    for timer in timers.values { timer.cancel() }
    timers = [:]
    if isOver { return }
    await handlers.run(part)
  }

  /// Tells the other side that the server shuts down, and ends.
  func leave(seconds: UInt64) async {
    if let handlers { return await handlers.leave(seconds: seconds) }
    take(.drain(seconds: seconds))
  }

  /// As `leave`, for a connection that is not run.
  func sendAway(seconds: UInt64) async {
    take(.drain(seconds: seconds))
    await send()
    await transport.close()
  }

  /// Sends what waits, until the connection is over and everything was sent.
  private func send() async {
    for await parts in parts {
      // One by one: a large message takes minutes over a slow connection, and the client is there for as long as it takes parts.
      do throws(TransportError) {
        for part in parts {
          try await transport.send([part])
          taken(part.count)
        }
        unsent -= 1
      } catch { break }
    }
    // Who reads may wait for room, which nobody makes any more. What the client has sent still counts.
    isBroken = true
    wakeReader()
    farewell?.cancel()
    await transport.close()
  }

  private func taken(_ bytes: Int) {
    let wasFull = machine.isFull
    perform(machine.handle(.taken(bytes), at: host.clock()))
    if wasFull { wakeReader() }
  }

  private func wakeReader() {
    reader?.resume()
    reader = nil
  }

  private func received() async -> [UInt8]? {
    do throws(TransportError) { return try await transport.receive() } catch { return nil }
  }

  private func untilThereIsRoom() async {
    let most = 2 * Int(clamping: host.configuration.uploadWindow)
    while !isOver, !isBroken && machine.isFull || machine.isBehind(most) { await withCheckedContinuation { reader = $0 } }
  }

  /// Handles an event, and performs the effects.
  func take(_ event: ServerConnectionEvent) {
    // A greeting that came is not waited for, though its timer may be on its way.
    if handlers != nil, case .timer = event { return }
    host.note(event, of: number)
    let effects = machine.handle(event, at: host.clock())
    if effects.contains(where: \.isClose) {
      // Who hears that this connection has ended may send at once what there is room for then.
      isOver = true
      countUploads()
    }
    perform(effects)
    countUploads()
    wakeReader()
    wakeLookers()
  }

  /// Counts what waits here among what waits everywhere, and ends the connection if that is too much and much of it is here.
  private func countUploads() {
    let bytes = isOver ? 0 : machine.backlog
    if bytes == uploadBytes { return }
    let all = host.uploadBytes.wrappingAdd(bytes - uploadBytes, ordering: .relaxed).newValue
    let isMore = bytes > uploadBytes
    uploadBytes = bytes
    guard isMore, all > host.configuration.allUploadBytes, bytes > 2 * Int(clamping: host.configuration.uploadWindow) else { return }
    take(.expel(SyncRefusal(.overloaded, "Too many changes wait here.", retryAfterSeconds: 10)))
  }

  /// Tells a session that its store has news. Returns once it has read them, but does not wait until the client has taken them.
  func tell(_ key: SessionKey) async {
    let event = ServerConnectionEvent.news(key)
    host.note(event, of: number)
    let effects = machine.handle(event, at: host.clock())
    let reads = effects.filter(\.isRead)
    perform(effects.filter { !$0.isRead })
    wakeReader()
    for read in reads { if let event = await answer(read) { take(event) } }
  }

  /// Sends what the connection takes without waiting, and leaves the rest to the task that waits. Returns how many bytes it has taken: of
  /// a change to a thousand sessions each has little to send, and waking a thousand tasks costs more than sending.
  private func send(_ parts: [[UInt8]]) -> Int {
    host.counts.sent(parts)
    var (rest, bytes) = (parts[...], 0)
    while unsent == 0, let part = rest.first, transport.offer(part) {
      rest.removeFirst()
      bytes += part.count
    }
    if !rest.isEmpty {
      unsent += 1
      outgoing.yield(Array(rest))
    }
    return bytes
  }

  private func perform(_ effects: [ServerConnectionEffect]) {
    var bytes = 0
    defer { if bytes > 0 { taken(bytes) } }
    for effect in effects {
      switch effect {
      case .send(let parts): bytes += send(parts)
      case .close: close()
      case .wake(let timer, let time): wake(timer, at: time)
      case .unbind(let key, let path): Task { await host.forget(path, key, of: self) }
      case .bind(let key, let path, let bind, let identity):
        let before = changes
        Task {
          await host.listen(path, key, of: self)
          take(.bound(key, await host.bind(path, bind, identity)))
          // What was read for it may be what was before.
          if changes != before { await recheck() }
          // The session may have ended before it was registered as a listener.
          if !machine.isBound(key) { await host.forget(path, key, of: self) }
        }
      case .verify:
        let before = changes
        let isRenewal = identity != nil
        Task {
          if let event = await answer(effect) { take(event) }
          // Another token may give other rights on the stores that are bound.
          if isRenewal || changes != before { await recheck() }
        }
      default: Task { if let event = await answer(effect) { take(event) } }
      }
    }
  }

  private func close() {
    isOver = true
    outgoing.finish()
    for timer in timers.values { timer.cancel() }
    timers = [:]
    laterCheck?.cancel()
    // A client that neither reads nor closes must not keep its connection.
    let (time, transport) = (host.configuration.farewellTime, transport)
    farewell = Task {
      do { try await Task.sleep(for: .milliseconds(time)) } catch { return }
      await transport.close()
    }
  }

  private func wake(_ timer: ServerConnectionTimer, at time: Int64) {
    timers[timer]?.cancel()
    let delay = max(0, time - host.clock())
    timers[timer] = Task { [weak self] in
      do { try await Task.sleep(for: .milliseconds(delay)) } catch { return }
      await self?.take(.timer(timer))
    }
  }

  /// The answer of the host or its stores to an effect.
  private func answer(_ effect: ServerConnectionEffect) async -> ServerConnectionEvent? {
    let (host, stores) = (host, host.stores)
    switch effect {
    case .verify(let token):
      return .verified(await result { () throws(SyncRefusal) in try await host.access.identity(ofToken: token, at: host.clock()) })
    case .commit(let key, let place, let uploads, let seen, let mayWrite):
      let rules = host.rules
      let judge: UploadJudge = { upload in
        guard mayWrite else { return Verdict(.writeDenied, "This user may only read.") }
        guard let rules else { return nil }
        if let object = upload.unmade { return Verdict(.invalidChange, "It writes into \(object), which does not exist.") }
        return rules(place.path, upload)
      }
      return await host.commit(key, place, uploads, refusalSeen: seen, mayWrite: mayWrite, judge: judge) { await sentBehind(key) }
    case .declare(let key, let path, let schema):
      return .declared(key, await result { () throws(ServerStoreError) in try await stores.declare(path, schema) })
    case .acknowledge(let key, let place, let state):
      return .acknowledged(
        key,
        await result { () throws(ServerStoreError) in
          try await stores.acknowledge(place.path, place.replica, state, at: host.clock())
        })
    case .readEntries(let key, let place, let seq, let limit):
      return .entries(
        key,
        await result { () throws(ServerStoreError) in
          try await stores.changes(place.path, for: place.replica, after: seq, limitBytes: limit)
        })
    case .readObjects(let key, let path, let history, let seq, let last, let limit):
      return .objects(
        key,
        await result { () throws(ServerStoreError) in
          try await stores.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limit)
        })
    case .readHead(let key, let path, let mark):
      return .head(
        key, mark: mark, await result { () throws(ServerStoreError) in try await stores.heads([path])[path] ?? .zero })
    case .send, .close, .wake, .bind, .unbind: return nil
    }
  }

  /// What a session's client has sent behind the uploads that are being looked at: asked once something of it only takes away, or a while
  /// has passed.
  private func sentBehind(_ key: SessionKey) async -> [Upload] {
    let time = host.configuration.roomTime
    if time <= 0 { return machine.line(of: key)?.uploads ?? [] }
    waitedFor.insert(key)
    let timer = Task { [weak self] in
      do { try await Task.sleep(for: .milliseconds(time)) } catch { return }
      await self?.waitNoMore(for: key)
    }
    var looked = 0
    while waitedFor.contains(key), let line = machine.line(of: key), !line.takesAway(from: looked) {
      looked = line.count
      await withCheckedContinuation { lookers.append($0) }
    }
    timer.cancel()
    waitedFor.remove(key)
    return machine.line(of: key)?.uploads ?? []
  }

  private func waitNoMore(for key: SessionKey) {
    waitedFor.remove(key)
    wakeLookers()
  }

  private func wakeLookers() {
    for looker in lookers { looker.resume() }
    lookers = []
  }

  private func result<T: Sendable, E: Error>(_ body: @Sendable () async throws(E) -> T) async -> Result<T, E> {
    do throws(E) { return .success(try await body()) } catch { return .failure(error) }
  }
}

extension ServerConnectionEffect {
  fileprivate var isClose: Bool { if case .close = self { true } else { false } }

  /// Whether it reads what is to be sent.
  fileprivate var isRead: Bool {
    switch self {
    case .readEntries, .readObjects: true
    default: false
    }
  }
}
