import SyncClient
import SyncModel
import SyncProtocol

/// A session with what it asked for, and a clock.
struct SessionHarness {
  var session: SyncSession
  var now: Int64 = 0
  var random = 0.0
  private(set) var effects: [SyncSessionEffect] = []

  static let secret = [UInt8](repeating: 7, count: 16)
  static let history = [UInt8](repeating: 9, count: 16)

  init(isNetworkThere: Bool = true) { session = SyncSession(SyncSessionConfiguration(path: "/ann/tasks"), isNetworkThere: isNetworkThere) }

  /// What one event asks for.
  @discardableResult mutating func handle(_ event: SyncSessionEvent) -> [SyncSessionEffect] {
    effects = session.handle(event, at: now, random: random)
    return effects
  }

  @discardableResult mutating func receive(_ message: ServerMessage, bytes: Int = 10) -> [SyncSessionEffect] {
    handle(.received(message, bytes: bytes))
  }

  static func standing(cursor: UInt64 = 0, refusalSeen: UInt64 = 0, clientSeq: UInt64 = 0) -> LocalStanding {
    LocalStanding(
      replica: ReplicaID(3), secret: secret, cursor: Seq(cursor), history: history, refusalSeen: Seq(refusalSeen),
      pendingBase: Seq(cursor), clientSeq: clientSeq)
  }

  static func bound(_ mode: Bound.Mode = .resume, judged: UInt64 = 0, credit: UInt64 = 1 << 20) -> Bound {
    Bound(
      mode: mode, rights: [.read, .write], history: history, head: Seq(9), stable: .zero, judged: judged, judgedStamp: .zero,
      refusal: .zero, refused: [], schemaHash: 0, credit: credit)
  }

  static let welcome = ServerMessage.welcome(
    Welcome(version: 1, features: [], serverTime: 1_000_000, pingSeconds: 30, messageBytes: 1 << 20))

  /// The same of a server that goes on with pages that were begun.
  static let goingOn = ServerMessage.welcome(
    Welcome(version: 1, features: .rest, serverTime: 1_000_000, pingSeconds: 30, messageBytes: 1 << 20))

  /// Up to where it waits for `bound`.
  mutating func greet(_ standing: LocalStanding = standing()) {
    handle(.start)
    handle(.token("t"))
    handle(.standing(standing))
    handle(.connected)
    receive(SessionHarness.welcome)
  }

  /// Up to where it is live.
  mutating func goLive(_ standing: LocalStanding = standing(), _ bound: Bound = bound()) {
    greet(standing)
    receive(.bound(session: 1, bound))
  }

  /// Hears that its token has ended, gets another one, and connects with that.
  mutating func connect(withNew token: String) {
    receive(.error(session: 0, code: .tokenExpired, retryAfterSeconds: 0, text: ""))
    handle(.token(token))
    handle(.standing(SessionHarness.standing()))
    handle(.connected)
  }

  /// Loses the connection, and goes on to where the next one is live.
  mutating func reconnect() {
    handle(.disconnected)
    now += 10_000
    handle(.timer(.retry, generation: session.generation))
    handle(.standing(SessionHarness.standing()))
    handle(.connected)
    receive(SessionHarness.welcome)
    receive(.bound(session: 1, SessionHarness.bound()))
  }

  static func write(_ clientSeq: UInt64, bytes: Int = 100) -> OutboxEntry {
    .write([changeset(clientSeq)], bytes: bytes)
  }

  static func changeset(_ clientSeq: UInt64) -> Changeset {
    Changeset(clientSeq: clientSeq, baseSeq: .zero, first: Stamp(time: clientSeq << 16, replica: ReplicaID(3)), operations: [])
  }

  static func page(isLast: Bool) -> StatePage {
    StatePage(asOf: Seq(5), stable: .zero, floor: .zero, latest: .zero, objects: [], next: [], isLast: isLast)
  }

  /// The reading of the outbox that was asked for last.
  var reading: (after: UInt64, number: UInt64)? {
    for case .readOutbox(let after, _, let number) in effects { return (after, number) }
    return nil
  }

  /// What was sent.
  var sent: [ClientMessage] {
    effects.compactMap { effect in
      if case .send(let message) = effect { message } else { nil }
    }
  }
}
