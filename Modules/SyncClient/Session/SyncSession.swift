import SyncModel
import SyncProtocol

/// A replica's side of its session with a server, as a pure state machine: what happened goes in, what is to be done comes out. No I/O, no
/// clock and no threads, so that the same code runs in an app and in tests that can repeat everything.
///
/// | state | what is legal from the server |
/// |---|---|
/// | `off`, `waitingForNetwork`, `waiting`, `suspended`, `resetting` | nothing: there is no connection |
/// | `gettingToken`, `connecting` | nothing yet |
/// | `greeting` | `welcome` |
/// | `binding` | `bound` |
/// | `fetching` | pages of objects; entries, which wait for the last page |
/// | `live` | entries |
///
/// In every state with a connection also what is of the connection: errors, `pong`, `goAway`, `expiring`, `authenticated`, marks. Any other
/// message ends the connection as out of order, and the session comes back later.
///
/// What the file has is told by `LocalStanding`, and only once it is durable: an upload or an acknowledgement of what a power cut may take
/// back would give a number twice. Confined to its owner.
package struct SyncSession: Sendable {
  /// Where the session stands.
  package enum State: Hashable, Sendable {
    case off
    case waitingForNetwork
    /// For the next try.
    case waiting
    case gettingToken
    case connecting
    case greeting
    case binding
    /// Objects in place of entries.
    case fetching(Bound.Mode)
    case live
    case suspended(Suspension)
    /// The file begins anew.
    case resetting
  }

  /// Why a session stops until the app does something.
  package enum Suspension: Hashable, Sendable {
    /// Somebody has to log in.
    case login
    /// Rights or the store have to change.
    case denied(SyncErrorCode)
    /// The app's schema has to fit.
    case schema(SyncErrorCode)
  }

  package internal(set) var state = State.off
  let configuration: SyncSessionConfiguration
  var isNetworkThere: Bool
  var token: String?
  /// Whether a new token was asked for since the last welcome.
  var hasRenewed = false
  /// What the file has; nil before it was read.
  var local: LocalStanding?

  // Of the tries.
  var attempts = 0
  /// No earlier, as the server wants it.
  var earliest: Int64 = 0
  var liveSince: Int64?
  /// Timers and answers of earlier connections are ignored.
  package internal(set) var generation: UInt64 = 0

  // Of one connection.
  var bound: Bound?
  var pages: [StatePage] = []
  var credit = SendCredit()
  var window: ReceiveWindow
  var pingNumber: UInt64 = 0
  /// How often the server wants to be asked; 0 for never.
  var pingSeconds: Int64 = 0
  var isPongDue = false
  /// What came and is not integrated.
  var queue: [Arrival] = []
  var isIntegrating = false
  /// Up to this number everything was sent.
  var sent: UInt64 = 0
  /// Up to this number the server has said what became of it.
  var judged: UInt64 = 0
  /// Of the last reading of the outbox: what an earlier one finds is ignored.
  package internal(set) var reading: UInt64 = 0
  var isReading = false
  /// Whether the outbox is to be read again after that.
  var isReadingDue = false
  var isUploadPlanned = false
  /// The cursor that was acknowledged last.
  var acknowledged = Seq.zero

  /// What the app waits for.
  var marks: Set<UInt64> = []

  /// What came in one message, or in those of one transaction.
  struct Arrival: Sendable {
    var entries: [LogEntry] = []
    /// Of the messages.
    var bytes = 0
    /// The server's answer to a mark, which comes behind entries.
    var mark: UInt64?

    /// Whether its last transaction is there to its end.
    var isWhole: Bool {
      if case .changeset(_, let changeset)? = entries.last?.body { !changeset.isContinued } else { true }
    }
  }

  /// A session that is off.
  package init(_ configuration: SyncSessionConfiguration, isNetworkThere: Bool = true) {
    self.configuration = configuration
    self.isNetworkThere = isNetworkThere
    window = ReceiveWindow(size: configuration.windowBytes)
  }

  /// Whether there is a connection, or one is being made.
  package var isConnected: Bool {
    switch state {
    case .connecting, .greeting, .binding, .fetching, .live: true
    case .off, .waitingForNetwork, .waiting, .gettingToken, .suspended, .resetting: false
    }
  }

  /// Takes an event in, and says what is to be done, in order.
  ///
  /// - Parameters:
  ///   - now: milliseconds of any clock that does not go back.
  ///   - random: from 0 up to 1, to spread tries.
  package mutating func handle(_ event: SyncSessionEvent, at now: Int64, random: Double = 0) -> [SyncSessionEffect] {
    let before = state
    var effects: [SyncSessionEffect] = []
    switch event {
    case .start: if state == .off { begin(now, &effects) }
    case .stop: stop(&effects)
    case .network(let isThere): network(isThere, now, &effects)
    case .foreground: retryNow(now, &effects)
    case .token(let token): got(token, now, &effects)
    case .connected: connected(&effects)
    case .disconnected: if isConnected { fail(now, random, &effects) }
    case .received(let message, let bytes): if isConnected { receive(message, bytes, now, random, &effects) }
    case .timer(let timer, let generation): if generation == self.generation { ring(timer, now, random, &effects) }
    case .standing(let standing): standingRead(standing, now, &effects)
    case .written: planUpload(now, &effects)
    case .outbox(let entries, let reading): if reading == self.reading { upload(entries, &effects) }
    case .integrated(let standing, let generation): if generation == self.generation { integrated(standing, now, &effects) }
    case .failedLocally: if isConnected || state == .resetting { fail(now, random, &effects) }
    case .mark(let number):
      marks.insert(number)
      if state == .live { effects.append(.send(.mark(session: SyncSession.number, number: number))) }
    }
    if state != before { effects.append(.report(state)) }
    return effects
  }
}

/// How a session behaves.
package struct SyncSessionConfiguration: Sendable {
  /// The store's path on the server.
  package var path: String
  /// A name for lists of devices.
  package var device: String
  /// Bytes of entries and pages that may be under way.
  package var windowBytes: UInt64 = 4 << 20
  /// Bytes of changesets in one message, about.
  package var uploadBytes = 64 << 10
  /// Milliseconds for which writes are gathered.
  package var gathering: Int64 = 5
  /// Milliseconds before the first try after a failure; doubled each time.
  package var firstDelay: Int64 = 1_000
  package var longestDelay: Int64 = 300_000
  /// Milliseconds of being live after which the next failure is the first again.
  package var settled: Int64 = 60_000
  /// Milliseconds for an answer to a ping.
  package var pongTimeout: Int64 = 30_000
  /// The same where the app was away, and the connection may be gone without a word.
  package var wakingTimeout: Int64 = 5_000

  /// The usual ones, for a path.
  package init(path: String, device: String = "") {
    self.path = path
    self.device = device
  }
}
