import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium
import VivariumTestSupport

/// What a device does to be the same as the server: its session, and what that asks for, one thing at a time.
@MainActor final class FramedSession {
  /// What is asked of the file, in order.
  enum Work {
    case effect(SyncSessionEffect)
    /// The server's clock is so far ahead of the device's.
    case setClock(Int64)
  }

  let replica: SimulatedReplica
  private(set) var session: SyncSession
  private(set) var connection: FramedConnection?
  private(set) var works: [Work] = []
  /// What the file has answered, and the session has not heard yet: others go on in between.
  private(set) var answer: SyncSessionEvent?
  private(set) var timers: [SyncSessionTimer: (at: Int64, generation: UInt64)] = [:]
  /// Whether a connection is being made.
  private(set) var isConnecting = false
  private(set) var resets = 0
  /// How often objects came in place of entries.
  private(set) var fetches = 0
  /// How often the rest of pages came that an earlier connection had begun.
  private(set) var rests = 0
  /// The last mark up to which the file has everything.
  private(set) var reached: UInt64 = 0
  private var isTokenDue = false
  private var clockOffset: Int64?
  private var decoder = FrameDecoder()
  private var encoder = FrameEncoder()
  private var isLive = false

  init(_ replica: SimulatedReplica, at now: Int64) {
    self.replica = replica
    var configuration = SyncSessionConfiguration(path: "/shared/simulation")
    (configuration.windowBytes, configuration.uploadBytes) = (3_000, 1_500)
    (configuration.firstDelay, configuration.longestDelay) = (200, 5_000)
    session = SyncSession(configuration)
    handle(.start, at: now)
  }

  /// Whether everything is done: it is live, has nothing to do, and nothing on its way.
  var isAtRest: Bool { session.state == .live && works.isEmpty && answer == nil && timers[.upload] == nil }

  func handle(_ event: SyncSessionEvent, at now: Int64) {
    for effect in session.handle(event, at: now, random: 0.5) { perform(effect) }
  }

  private func perform(_ effect: SyncSessionEffect) {
    switch effect {
    case .getToken: isTokenDue = true
    case .connect: isConnecting = true
    case .disconnect:
      connection?.leave()
      connection = nil
      isConnecting = false
    case .send(let message):
      if let parts = try? encoder.parts(of: message.frame) { connection?.send(parts) }
    case .wake(let timer, let time, let generation): timers[timer] = (time, generation)
    case .setServerTime(let time): clockOffset = Int64(clamping: time) - replica.wall
    case .report(let state):
      isLive = state == .live
      if isLive { replica.isBound = true }
    case .reset:
      resets += 1
      works.append(.effect(effect))
    case .readStanding, .readOutbox, .integrate, .stage, .dropPages, .take: works.append(.effect(effect))
    case .reached(let mark): reached = max(reached, mark)
    case .tell: break
    }
  }

  // MARK: what can happen

  var canGetToken: Bool { isTokenDue }

  func getToken(at now: Int64) {
    isTokenDue = false
    handle(.token("ann"), at: now)
  }

  /// A way to the server, or none.
  func connect(_ other: FramedConnection?, at now: Int64) {
    isConnecting = false
    connection = other
    // Small limits, as the server has them.
    let limits = FrameLimits(partBytes: 300, messageBytes: 1 << 20, compressedFrom: 200)
    (decoder, encoder) = (FrameDecoder(limits), FrameEncoder(limits))
    handle(other == nil ? .disconnected : .connected, at: now)
  }

  /// What comes next, for a trace; nil for a part of a longer message.
  var next: String? {
    guard let part = connection?.toClient.first else { return nil }
    var copy = decoder
    guard let frame = try? copy.take(part), let message = try? ServerMessage(frame) else { return nil }
    return String("\(message)".prefix(20_000))
  }

  func deliver(at now: Int64) throws {
    guard let part = connection?.partForClient(at: now) else { return }
    guard let frame = try decoder.take(part) else { return handle(.moved, at: now) }
    let message = try ServerMessage(frame)
    if case .welcome(let welcome) = message { encoder.compresses = welcome.features.contains(.compression) }
    if case .bound(_, let bound) = message, bound.mode == .rest { rests += 1 }
    handle(.received(message, bytes: frame.body.count), at: now)
    if case .welcome = message, let clockOffset { works.append(.setClock(clockOffset)) }
  }

  func end(at now: Int64) {
    connection?.leave()
    connection = nil
    handle(.disconnected, at: now)
  }

  /// The file does the next thing that it was asked for.
  func work() async throws {
    switch works.removeFirst() {
    case .setClock(let offset): try await SessionFile(try replica.store.file).setClock(offset: offset)
    case .effect(let given):
      let effect = faulty(given)
      if let generation = effect.generation, generation != session.generation { return }
      if case .take(let pages, _, let staged, _) = effect {
        fetches += 1
        let all = try await replica.stagedPages(staged) + pages
        for page in all { for object in page.objects { replica.highest = max(replica.highest, object.state.record.lastSeq) } }
      }
      var other: ReplicaID?
      if case .reset(let cause) = effect {
        replica.forget()
        if cause.makesNewReplica { other = replica.rename() }
      }
      answer = try await SessionFile(try replica.store.file).answer(
        effect, clockOffset: clockOffset, wall: replica.wall, other: other)
    }
    try replica.store.refresh()
  }

  /// As a replica that breaks a rule does it.
  private func faulty(_ effect: SyncSessionEffect) -> SyncSessionEffect {
    guard let fault = replica.fault else { return effect }
    switch effect {
    case .integrate(let entries, let generation): return .integrate(entries.compactMap { fault.entry($0) }, generation: generation)
    case .take(let pages, let bound, let staged, let generation):
      return .take(pages.map { fault.page($0) }, bound, behind: staged, generation: generation)
    // Of which purge they are shows in the last page, which is never put aside.
    case .stage(let pages, let staged, let generation) where fault == .objectsOfPagesLost:
      return .stage(pages.map { fault.page($0) }, behind: staged, generation: generation)
    default: return effect
    }
  }

  func deliverAnswer(at now: Int64) {
    guard let event = answer else { return }
    answer = nil
    handle(event, at: now)
  }

  func ring(_ timer: SyncSessionTimer, at now: Int64) {
    guard let generation = timers.removeValue(forKey: timer)?.generation else { return }
    handle(.timer(timer, generation: generation), at: now)
  }
}
