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

/// Replicates a file with a server's store for as long as it lives: connects, uploads writes once they are on the disk, integrates the
/// changes of others, and reconnects whenever the connection is lost.
///
/// ```swift
/// let replicator = store.replicator(path: "/~/tasks", connector: connector, credentials: user)
/// await replicator.start()
/// try await replicator.downloaded()      // everything that the server has is here
/// ```
///
/// One replicator works on a file at a time, however many processes have it open. The others stand by (`SyncState.elsewhere`), and one of
/// them takes over within a second when it stops or its process dies. Reading and writing the store never needs a connection.
/// **Threads.** Any task may call; the replicator never uses the store's own thread. It keeps the file open until `stop`, or until its
/// last reference goes.
public actor Replicator {
  /// The options of a replicator.
  public struct Options: Sendable {
    /// A name for lists of devices.
    public var device = ""
    /// The wait before the second attempt; each further one doubles, up to `longestDelay`.
    public var firstDelay = Duration.seconds(1)
    /// The longest wait between attempts.
    public var longestDelay = Duration.seconds(300)
    /// What becomes of pending changes when the server has another history.
    public var resetMode = ResetMode.recover
    /// Called before the server's objects take the place of the file's, because of another history or because the objects differ, with the
    /// file as it is. Nothing of the server's is written before it returns; the app may go on writing. Called again if the reset could
    /// not begin then. Not called for a wrong clock.
    public var beforeReset: (@Sendable (_ before: FrozenStore) async -> Void)?
    /// Called once after each reset for which `beforeReset` is called, when the server's objects and the redone changes are in the file,
    /// with the file as it was right before them. Replication goes on meanwhile. Not called if the process ends before it, or the
    /// replicator has gone.
    public var afterReset: (@Sendable (_ before: FrozenStore, _ outcome: ResetOutcome) async -> Void)?

    /// The default options.
    public init() {}
  }

  var file: SessionFile
  let beforeReset: (@Sendable (FrozenStore) async -> Void)?
  private let afterReset: (@Sendable (FrozenStore, ResetOutcome) async -> Void)?
  /// The generation of the reset that waits for the app's decision, in mode `.manual`.
  var heldReset: UInt64?
  /// Why the file has begun anew, and what it has discarded for that; until the server's objects are in it.
  var begunReset: (cause: SyncResetCause, discarded: RecoveryReport?)?
  private let connector: any SyncConnector
  private let credentials: any SyncCredentials
  private let wall: @Sendable () -> Int64
  private let turn: SessionTurn
  private let delays: ClosedRange<Duration>
  private(set) var machine: SyncSession
  private var link: SyncLink?
  private var subscription: CommitSubscription?
  private var waitingForTurn: Task<Void, Never>?
  /// Pending reads and writes of the file, in order.
  private var works: [SyncSessionEffect] = []
  private var isWorking = false
  private var timers: [SyncSessionTimer: Task<Void, Never>] = [:]
  /// By how many milliseconds the server's clock is ahead of this device's.
  private var clockOffset: Int64?
  private(set) var isStarted = false
  /// Whether it is about to be started: callers that wait for it then wait instead of being turned away.
  private var isStarting: Bool
  var listeners: [UInt64: AsyncStream<SyncNotice>.Continuation] = [:]
  var lastNumber: UInt64 = 0
  var marks: [UInt64: CheckedContinuation<Void, any Error>] = [:]
  var uploads: [UInt64: WaitingUpload] = [:]
  var transfers = Transfers()
  /// The last error from the server.
  private var lastProblem: SyncError?
  /// The last reported state.
  public private(set) var state = SyncState.off

  init(
    _ file: SharedFile, path: String, connector: any SyncConnector, credentials: any SyncCredentials, options: Options,
    isStarting: Bool = false
  ) {
    self.isStarting = isStarting
    self.file = SessionFile(file, resetMode: options.resetMode)
    (beforeReset, afterReset) = (options.beforeReset, options.afterReset)
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

  // MARK: control by the app

  /// Begins, or waits until the file's other replicator ends. Idempotent.
  public func start() {
    isStarting = false
    guard !isStarted else { return }
    isStarted = true
    report(.elsewhere)
    waitForTurn()
  }

  /// Begins when nobody else replicates the file. Retries after errors, which may be temporary, such as a full disk.
  private func waitForTurn() {
    waitingForTurn?.cancel()
    waitingForTurn = Task { [weak self, turn, delays] in
      var pause = delays.lowerBound
      while !Task.isCancelled {
        do {
          if try await turn.begin({ [weak self] in await self?.standBy() }) {
            // The replicator may have gone meanwhile.
            guard let self else { return turn.end() }
            try await self.begin()
          }
          return
        } catch { await self?.couldNotBegin(error) }
        do { try await Task.sleep(for: pause) } catch { return }
        pause = min(pause * 2, delays.upperBound)
      }
    }
  }

  /// Another replicator has the file.
  private func standBy() { if isStarted, subscription == nil { report(.elsewhere) } }

  private func couldNotBegin(_ error: any Error) {
    tell(.file(error))
    if isStarted, subscription == nil { report(.fileUnavailable(SyncFileError(error))) }
  }

  /// As `start`, unless it was stopped in between.
  func startIfStarting() { if isStarting { start() } }

  private func begin() throws {
    guard isStarted else { return turn.end() }
    // Without the right, it was stopped and started again meanwhile, and another task waits for the right.
    guard turn.isHeld, subscription == nil else { return }
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

  /// Ends the connection and makes no other. Writes in between are uploaded after the next `start`.
  ///
  /// Does not wait for an integration that has begun. It is finished before another replicator of the file takes over.
  public func stop() async {
    isStarting = false
    guard isStarted else { return }
    isStarted = false
    waitingForTurn?.cancel()
    handle(.stop)
    (subscription, heldReset, works) = (nil, nil, [])
    turn.end()
    report(.off)
    for (number, continuation) in marks {
      handle(.unmark(number))
      continuation.resume(throwing: CancellationError())
    }
    for (_, upload) in uploads { upload.continuation.resume(throwing: CancellationError()) }
    (marks, uploads) = ([:], [:])
    transfers.finish()
  }

  /// Whether waiting for it makes sense.
  var isAtWork: Bool { isStarted || isStarting }

  /// Reconnects at once, for example when the app comes to the front or somebody has logged in.
  public func retry() {
    if isStarted, subscription == nil { return waitForTurn() }
    guard case .suspended = state else { return handle(.foreground) }
    handle(.stop)
    handle(.start)
  }

  /// Tells the replicator whether there is a network, if the app knows.
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
      // An expired token is renewed; if that fails, the state says so.
      if code.reaction != .renewToken { tell(.problem(problem)) }
    case .reached(let mark):
      marks.removeValue(forKey: mark)?.resume()
      transfers.reached(mark)
    case .report(let state): report(SyncState(state, lastProblem))
    case .reset(let cause): prepareReset(cause)
    case .readStanding, .readOutbox, .integrate, .stage, .dropPages, .take: work(effect)
    }
  }

  private func getToken(isNew: Bool) {
    let credentials = credentials
    Task { [weak self] in
      let token = await credentials.token(isNew: isNew)
      await self?.handle(.token(token))
    }
  }

  /// Reads and writes the file, one effect after the other: what an ended connection brought must not be integrated after what the next
  /// one brings. The answer comes as an event.
  func work(_ effect: SyncSessionEffect) {
    works.append(effect)
    guard !isWorking else { return }
    isWorking = true
    turn.enter()
    Task { [weak self, turn, afterReset] in
      defer { turn.leave() }
      while let (effect, offset, file) = await self?.nextWork() {
        do {
          // Only now is there what the app may compare with afterwards.
          let before = try afterReset != nil && effect.takesObjects ? file.file.freeze() : nil
          let event = try await file.answer(effect, clockOffset: offset)
          let outcome = await self?.answered(event, to: effect)
          if let afterReset, let before, let outcome { Task { await afterReset(before, outcome) } }
        } catch {
          await self?.failed(error)
        }
      }
    }
  }

  func failed(_ error: any Error) {
    // It would fail again each time: somebody has to act.
    if let error = error as? StoreError, error.code == .schemaMismatch { return handle(.schemaDiffers(error.message)) }
    tell(.file(error))
    handle(.failedLocally)
    if state == .waiting { report(.fileUnavailable(SyncFileError(error))) }
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

  /// Returns what a reset has come to, if that was its end.
  private func answered(_ event: SyncSessionEvent?, to effect: SyncSessionEffect) -> ResetOutcome? {
    guard let event else { return nil }
    let outcome = noteReset(effect, event)
    handle(event)
    guard case .integrated = event else { return outcome }
    checkUploads()
    lookAtOutbox()
    return outcome
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
    case .moved: handle(.moved)
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

  // MARK: notices

  func tell(_ notice: SyncNotice) { for listener in listeners.values { listener.yield(notice) } }

  private func report(_ state: SyncState) {
    guard state != self.state else { return }
    self.state = state
    tell(.state(state))
  }
}

extension Store {
  /// Creates a replicator of the store's file, not started. The store must have been opened with `replicate`.
  ///
  /// - Parameters:
  ///   - path: the path of the server's store: "/~/tasks" for the user's own, "/shared/shop".
  ///   - connector: how to reach the server.
  ///   - credentials: identifies the user.
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
