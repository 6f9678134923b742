import Notifications
import StorageInterface
import SyncModel
import SyncProtocol
import Vivarium

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps a file and a server's store the same, for as long as it lives: connects, sends what the file has written once it is on the disk,
/// takes in what others did, and comes back by itself whenever the connection is lost.
///
/// ```swift
/// let replicator = store.replicator(path: "/~/tasks", connector: connector, credentials: user)
/// await replicator.start()
/// try await replicator.downloaded()      // everything that the server has is here
/// ```
///
/// One replicates a file at a time, however many processes have it open: the others stand by (`SyncState.elsewhere`), and one
/// of them takes over within a second when it ends or dies. Reading and writing the store needs no connection, ever.
/// **Threads.** Any task may call; the store's own thread is never used. It keeps the file open until `stop`, or its last reference.
public actor Replicator {
  /// How it goes about it.
  public struct Options: Sendable {
    /// A name for lists of devices.
    public var device = ""
    /// The wait before the second try; each further one waits twice as long, up to `longestDelay`.
    public var firstDelay = Duration.seconds(1)
    /// The longest wait between tries.
    public var longestDelay = Duration.seconds(300)
    /// What becomes of changes that wait when the server's past is another one.
    public var resetMode = ResetMode.recover
    /// Called before the file begins anew for that: the moment to keep a copy of it. Nothing is done to it before this returns.
    public var beforeReset: (@Sendable () async -> Void)?

    /// The usual.
    public init() {}
  }

  var file: SessionFile
  private let beforeReset: (@Sendable () async -> Void)?
  /// How the app wants to begin anew, where it is asked and has not said so.
  private var heldReset: SyncSessionEffect?
  private let connector: any SyncConnector
  private let credentials: any SyncCredentials
  private let wall: @Sendable () -> Int64
  private let turn: SessionTurn
  private let delays: ClosedRange<Duration>
  private var machine: SyncSession
  private var link: SyncLink?
  private var subscription: CommitSubscription?
  private var waitingForTurn: Task<Void, Never>?
  /// What the file is asked for, in order.
  private var works: [SyncSessionEffect] = []
  private var isWorking = false
  private var timers: [SyncSessionTimer: Task<Void, Never>] = [:]
  /// What the server's clock is ahead of this one, in milliseconds.
  private var clockOffset: Int64?
  private(set) var isStarted = false
  /// Whether somebody is about to start it: who waits for it until then waits, and is not turned away.
  private var isStarting: Bool
  var listeners: [UInt64: AsyncStream<SyncNotice>.Continuation] = [:]
  var lastNumber: UInt64 = 0
  var marks: [UInt64: CheckedContinuation<Void, any Error>] = [:]
  var uploads: [UInt64: (upTo: UInt64, continuation: CheckedContinuation<Void, any Error>)] = [:]
  var transfers = Transfers()
  /// What the server said last of what is wrong.
  private var lastProblem: SyncError?
  /// What the app was told last.
  public private(set) var state = SyncState.off

  init(
    _ file: SharedFile, path: String, connector: any SyncConnector, credentials: any SyncCredentials, options: Options,
    isStarting: Bool = false
  ) {
    self.isStarting = isStarting
    self.file = SessionFile(file, resetMode: options.resetMode)
    beforeReset = options.beforeReset
    (self.connector, self.credentials) = (connector, credentials)
    wall = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
    turn = SessionTurn(of: file)
    delays = options.firstDelay...max(options.firstDelay, options.longestDelay)
    var configuration = SyncSessionConfiguration(path: path, device: options.device)
    configuration.firstDelay = options.firstDelay.inMilliseconds
    configuration.longestDelay = options.longestDelay.inMilliseconds
    machine = SyncSession(configuration)
  }

  deinit {
    waitingForTurn?.cancel()
    for timer in timers.values { timer.cancel() }
    for listener in listeners.values { listener.finish() }
    transfers.finish()
    if let link { Task { await link.close() } }
    turn.end()
  }

  // MARK: what the app says

  /// Begins, or waits for another one of the file to end. Idempotent.
  public func start() {
    isStarting = false
    guard !isStarted else { return }
    isStarted = true
    report(.elsewhere)
    waitForTurn()
  }

  /// Begins when nobody else replicates the file. What keeps it from finding out, a full disk say, may pass.
  private func waitForTurn() {
    waitingForTurn?.cancel()
    waitingForTurn = Task { [weak self, turn, delays] in
      var pause = delays.lowerBound
      while !Task.isCancelled {
        do {
          if try await turn.begin() { try await self?.begin() }
          return
        } catch { await self?.tell(.file(error)) }
        do { try await Task.sleep(for: pause) } catch { return }
        pause = min(pause * 2, delays.upperBound)
      }
    }
  }

  /// As `start`, unless it was stopped before that.
  func startIfStarting() { if isStarting { start() } }

  private func begin() throws {
    guard isStarted else { return turn.end() }
    guard subscription == nil else { return }
    subscription = try file.file.onCommit { [weak self] in
      guard let self else { return }
      Task { await self.wrote() }
    }
    report(.off)
    handle(.start)
  }

  private func wrote() {
    handle(.written)
    lookAtOutbox()
  }

  /// Ends the connection and begins no other. What was written meanwhile is sent after the next `start`.
  public func stop() async {
    isStarting = false
    guard isStarted else { return }
    isStarted = false
    waitingForTurn?.cancel()
    handle(.stop)
    (subscription, heldReset) = (nil, nil)
    turn.end()
    report(.off)
    for (_, continuation) in marks { continuation.resume(throwing: CancellationError()) }
    for (_, upload) in uploads { upload.continuation.resume(throwing: CancellationError()) }
    (marks, uploads) = ([:], [:])
    transfers.finish()
  }

  /// Whether it makes sense to wait for it.
  var isAtWork: Bool { isStarted || isStarting }

  /// Tries at once, as when the app comes to the front or somebody has logged in.
  public func retry() {
    if isStarted, subscription == nil { return waitForTurn() }
    guard case .suspended = state else { return handle(.foreground) }
    handle(.stop)
    handle(.start)
  }

  /// Says whether there is a network, where the app knows.
  public func network(isThere: Bool) { handle(.network(isThere: isThere)) }

  // MARK: the machine

  func handle(_ event: SyncSessionEvent) {
    for effect in machine.handle(event, at: Replicator.now, random: .random(in: 0..<1)) { perform(effect) }
  }

  private static let start = ContinuousClock.now
  private static var now: Int64 { (ContinuousClock.now - start).inMilliseconds }

  private func perform(_ effect: SyncSessionEffect) {
    switch effect {
    case .getToken(let isNew): getToken(isNew: isNew)
    case .connect: connect()
    case .disconnect: disconnect()
    case .send(let message): link?.send(message)
    case .wake(let timer, let time, let generation): wake(timer, time, generation)
    case .setServerTime(let time): clockOffset = Int64(clamping: time) - wall()
    case .tell(let code, let text):
      let problem = SyncError(code, text)
      lastProblem = problem
      // A token that has ended is got anew; where that is in vain, the state says so.
      if code.reaction != .renewToken { tell(.problem(problem)) }
    case .reached(let mark):
      marks.removeValue(forKey: mark)?.resume()
      transfers.reached(mark)
    case .report(let state): report(SyncState(state, lastProblem))
    case .reset(asNewReplica: true): prepareReset(effect)
    case .readStanding, .readOutbox, .integrate, .take, .reset: work(effect)
    }
  }

  /// Another past: the app may keep what it has first, and say what becomes of it.
  private func prepareReset(_ effect: SyncSessionEffect) {
    if file.resetMode == .manual {
      heldReset = effect
      return tell(.resetNeeded)
    }
    beginReset(effect)
  }

  private func beginReset(_ effect: SyncSessionEffect) {
    guard let beforeReset else { return work(effect) }
    Task { [weak self] in
      await beforeReset()
      await self?.work(effect)
    }
  }

  /// Says what becomes of what waits, where the mode is `.manual` and a notice asked for it (`SyncNotice.resetNeeded`). Nothing where none
  /// did. `.manual` goes on waiting.
  public func reset(_ mode: ResetMode) {
    guard mode != .manual, let effect = heldReset else { return }
    heldReset = nil
    file.resetMode = mode
    beginReset(effect)
  }

  private func getToken(isNew: Bool) {
    let credentials = credentials
    Task { [weak self] in
      let token = await credentials.token(isNew: isNew)
      await self?.handle(.token(token))
    }
  }

  /// What is read from the file or written to it, one after the other and in order: what a connection that has ended brought must not
  /// come behind what the next one brings. The answer comes as an event.
  private func work(_ effect: SyncSessionEffect) {
    works.append(effect)
    guard !isWorking else { return }
    isWorking = true
    Task { [weak self] in
      while let (effect, offset, file) = await self?.nextWork() {
        do {
          let event = try await file.answer(effect, clockOffset: offset)
          await self?.answered(event)
        } catch {
          await self?.tell(.file(error))
          await self?.handle(.failedLocally)
        }
      }
    }
  }

  private func nextWork() -> (SyncSessionEffect, clockOffset: Int64?, SessionFile)? {
    while !works.isEmpty {
      let effect = works.removeFirst()
      if let generation = effect.generation, generation != machine.generation { continue }
      return (effect, clockOffset, file)
    }
    isWorking = false
    return nil
  }

  private func answered(_ event: SyncSessionEvent?) {
    guard let event else { return }
    handle(event)
    guard case .integrated = event else { return }
    checkUploads()
    lookAtOutbox()
  }

  private func connect() {
    let generation = machine.generation
    let connector = connector
    Task { [weak self] in
      do throws(TransportError) {
        let transport = try await connector.connect()
        guard let self, await self.connected(transport, generation) else { return await transport.close() }
      } catch {
        await self?.unreachable(error, generation)
      }
    }
  }

  private func unreachable(_ error: TransportError, _ generation: UInt64) {
    guard generation == machine.generation else { return }
    tell(.unreachable(error))
    handle(.disconnected)
    if error.code == .untrusted, state == .waiting { report(.untrusted(error)) }
  }

  private func connected(_ transport: any SyncTransport, _ generation: UInt64) -> Bool {
    guard machine.isConnected, generation == machine.generation else { return false }
    link = SyncLink(transport) { [weak self] news in await self?.take(news, generation) }
    handle(.connected)
    return true
  }

  private func take(_ news: SyncLink.News, _ generation: UInt64) {
    guard generation == machine.generation else { return }
    switch news {
    case .message(let message, let bytes):
      if case .welcome(let welcome) = message { link?.agree(to: welcome.features) }
      transfers.received(message, bytes)
      handle(.received(message, bytes: bytes))
      if case .welcome = message, let clockOffset { adjustClock(clockOffset) }
    case .fault(let error):
      tell(.problem(SyncError(error.code, error.detail)))
      handle(.disconnected)
    case .end: handle(.disconnected)
    }
  }

  private func adjustClock(_ offset: Int64) {
    let file = file
    Task { [weak self] in do { try await file.setClock(offset: offset) } catch { await self?.tell(.file(error)) } }
  }

  private func disconnect() {
    if let link { Task { await link.close() } }
    link = nil
  }

  private func wake(_ timer: SyncSessionTimer, _ time: Int64, _ generation: UInt64) {
    timers[timer]?.cancel()
    timers[timer] = Task { [weak self] in
      do { try await Task.sleep(for: .milliseconds(max(0, time - Replicator.now))) } catch { return }
      await self?.handle(.timer(timer, generation: generation))
    }
  }

  // MARK: what the app hears

  func tell(_ notice: SyncNotice) { for listener in listeners.values { listener.yield(notice) } }

  private func report(_ state: SyncState) {
    guard state != self.state else { return }
    self.state = state
    tell(.state(state))
  }
}

extension Store {
  /// A replicator of the store's file, which does nothing yet. The store must have been opened with `replicate`.
  ///
  /// - Parameters:
  ///   - path: of the server's store: "/~/tasks" for the user's own, "/shared/shop".
  ///   - connector: how the server is reached.
  ///   - credentials: who the user is.
  public func replicator(
    path: String, connector: any SyncConnector, credentials: any SyncCredentials, options: Replicator.Options = Replicator.Options()
  ) -> Replicator {
    Replicator(file, path: path, connector: connector, credentials: credentials, options: options)
  }
}

extension Duration {
  fileprivate var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
