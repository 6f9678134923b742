#if Sync
import Dispatch
import SyncClient
import SyncModel
import SyncProtocol

/// A device without a file, so that one process can have thousands: the session is an app's, and what it would integrate is noted and
/// forgotten.
actor LightDevice {
  /// The session ended, or could not begin.
  struct Ended: Error, CustomStringConvertible {
    let description: String
  }

  private let transport: any SyncTransport
  private let token: String
  private var machine: SyncSession
  private var standing: LocalStanding
  private var decoder = FrameDecoder(.ofClient)
  private var outbox: [Changeset] = []
  private var outgoing: [ClientMessage] = []
  private var isSending = false
  private var problem = "The connection ended."
  private var live: CheckedContinuation<Void, any Error>?
  private var due: [SyncSessionTimer: Int] = [:]
  /// The entry as of which the first page was of those that it would have put aside.
  private var asOf: Seq?
  private var wakes = 0
  private var hasEnded = false
  private var waiter: (count: Int, continuation: CheckedContinuation<Void, any Error>)?
  /// When each changeset of others came, by its number.
  private(set) var arrivals: [(number: UInt64, time: ContinuousClock.Instant)] = []

  /// Connects, and returns once the session is live.
  static func began(_ connector: any SyncConnector, token: String, path: String, replica: UInt64) async throws -> LightDevice {
    let device = LightDevice(try await connector.connect(), token: token, path: path, replica: ReplicaID(replica))
    try await device.begin()
    return device
  }

  private init(_ transport: any SyncTransport, token: String, path: String, replica: ReplicaID) {
    (self.transport, self.token) = (transport, token)
    machine = SyncSession(SyncSessionConfiguration(path: path))
    standing = LocalStanding(replica: replica, secret: [UInt8](repeating: UInt8(truncatingIfNeeded: replica.rawValue), count: 16))
  }

  /// Waits until so many changesets of others came. Throws when the session ends before, or takes too long. Once.
  func receive(_ count: Int, within seconds: Int) async throws {
    if arrivals.count >= count { return }
    if hasEnded { throw Ended(description: problem) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
      Task { await self?.endWaiting("\(count) changesets did not come within \(seconds) s.") }
    }
    try await withCheckedThrowingContinuation { waiter = (count, $0) }
  }

  private func endWaiting(_ reason: String) {
    waiter?.continuation.resume(throwing: Ended(description: reason))
    waiter = nil
  }

  /// Writes a changeset.
  func write(_ changeset: Changeset) {
    outbox.append(changeset)
    (standing.clientSeq, standing.stamps[changeset.clientSeq]) = (changeset.clientSeq, changeset.first)
    handle(.written)
  }

  /// Ends the connection.
  func end() async { await transport.close() }

  // MARK: the session

  private func begin() async throws {
    Task { await receive() }
    try await withCheckedThrowingContinuation { continuation in
      live = continuation
      handle(.start)
    }
  }

  private func receive() async {
    do {
      while let part = try await transport.receive() {
        guard let frame = try decoder.take(part) else {
          handle(.moved)
          continue
        }
        handle(.received(try ServerMessage(frame), bytes: frame.body.count))
      }
    } catch { problem = "\(error)" }
    handle(.disconnected)
    fail()
  }

  private func fail() {
    hasEnded = true
    endWaiting(problem)
    live?.resume(throwing: Ended(description: problem))
    live = nil
  }

  private static let start = ContinuousClock.now
  private static var now: Int64 { Int64((ContinuousClock.now - start) / .milliseconds(1)) }

  private func handle(_ event: SyncSessionEvent) {
    var events = [event]
    while !events.isEmpty {
      for effect in machine.handle(events.removeFirst(), at: LightDevice.now) {
        if let answer = perform(effect) { events.append(answer) }
      }
    }
    if !isSending, !outgoing.isEmpty {
      isSending = true
      Task { await send() }
    }
  }

  private func perform(_ effect: SyncSessionEffect) -> SyncSessionEvent? {
    switch effect {
    case .getToken: return .token(token)
    case .readStanding: return .standing(standing)
    case .connect: return .connected
    case .send(let message): outgoing.append(message)
    case .wake(let timer, let time, let generation): wake(timer, time, generation)
    case .readOutbox(let number, _, let reading):
      return .outbox(outbox.filter { $0.clientSeq > number }.map { .write([$0], bytes: $0.encoded().count) }, reading: reading)
    case .integrate(let entries, let generation):
      for entry in entries { note(entry) }
      return integrated(entries.last?.seq, generation)
    case .stage(_, let staged, let generation):
      asOf = staged.begun.asOf
      return .staged(generation: generation)
    case .take(let pages, let bound, let staged, let generation):
      standing.history = bound.history
      return integrated(staged > 0 ? asOf : pages.first?.asOf, generation)
    case .tell(let code, let text): problem = "\(code.message) \(text)"
    case .report(.live):
      live?.resume()
      live = nil
    case .disconnect, .reset: Task { await transport.close() }
    case .setServerTime, .reached, .report, .dropPages: break
    }
    return nil
  }

  private func note(_ entry: LogEntry) {
    switch entry.body {
    case .changeset(_, let changeset):
      arrivals.append((changeset.clientSeq, .now))
      guard let waiter, arrivals.count >= waiter.count else { return }
      waiter.continuation.resume()
      self.waiter = nil
    case .own(let number):
      outbox.removeAll { $0.clientSeq <= number }
      standing.stamps[number] = nil
    case .refusal(_, _, let text, _): problem = text
    case .purge, .schema: break
    }
  }

  private func integrated(_ seq: Seq?, _ generation: UInt64) -> SyncSessionEvent {
    standing.cursor = max(standing.cursor, seq ?? .zero)
    standing.pendingBase = outbox.first?.baseSeq ?? standing.cursor
    return .integrated(standing, generation: generation)
  }

  private func wake(_ timer: SyncSessionTimer, _ time: Int64, _ generation: UInt64) {
    wakes += 1
    let number = wakes
    due[timer] = number
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(max(0, time - LightDevice.now)))) { [weak self] in
      Task { await self?.ring(timer, number, generation) }
    }
  }

  /// Not if the timer was set anew meanwhile.
  private func ring(_ timer: SyncSessionTimer, _ number: Int, _ generation: UInt64) {
    if due[timer] == number { handle(.timer(timer, generation: generation)) }
  }

  private func send() async {
    while !outgoing.isEmpty {
      let messages = outgoing
      outgoing = []
      for message in messages {
        guard let parts = try? FrameEncoder().parts(of: message.frame) else { continue }
        do { try await transport.send(parts) } catch { break }
      }
    }
    isSending = false
  }
}
#endif
