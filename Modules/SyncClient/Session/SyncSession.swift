import SyncModel
import SyncProtocol

/// The client's side of a session with a server, as a pure state machine: events go in, effects to perform come out. No I/O, no clock and
/// no threads, so the same code runs in an app and in reproducible tests.
///
/// | state | what is legal from the server |
/// |---|---|
/// | `off`, `waitingForNetwork`, `waiting`, `suspended`, `resetting` | nothing: there is no connection |
/// | `gettingToken`, `connecting` | nothing yet |
/// | `greeting` | `welcome` |
/// | `binding` | `bound` |
/// | `fetching` | pages of objects, which go to the disk; entries, which wait for the last page |
/// | `live` | entries |
///
/// In every state with a connection, messages of the connection are also legal: errors, `pong`, `goAway`, `expiring`, `authenticated`,
/// marks. Any other message ends the connection as out of order, and the session reconnects later.
///
/// `LocalStanding` says what the file has, and only once that is durable: if a power cut undid a changeset after its upload, or an entry
/// after its acknowledgement, a number would be used twice. Confined to its owner.
package struct SyncSession: Sendable {
  /// The state of the session.
  package enum State: Hashable, Sendable {
    case off
    case waitingForNetwork
    /// Waiting for the next attempt.
    case waiting
    case gettingToken
    case connecting
    case greeting
    case binding
    /// Receiving objects in place of entries.
    case fetching(Bound.Mode)
    case live
    case suspended(Suspension)
    /// The file begins anew.
    case resetting
  }

  /// Why a session stops until somebody does something.
  package enum Suspension: Hashable, Sendable {
    /// Somebody must log in.
    case login
    /// Rights or the store must change. It is tried again seldom.
    case denied(SyncErrorCode)
    /// The app's schema must fit.
    case schema(SyncErrorCode)
  }

  package internal(set) var state = State.off
  let configuration: SyncSessionConfiguration
  var isNetworkThere: Bool
  var token: String?
  /// Whether a new token has been requested since the last welcome or denial.
  var hasRenewed = false
  /// The token that was refused since the last welcome.
  var refused: String?
  /// The token that was given on the present connection last, and whether it needs another one.
  var given: String?
  var renewal = TokenRenewal.none
  /// How often one was got for that in a row, and when last.
  var renewals = 0
  var renewedAt: Int64?
  /// The file's standing; nil before it is read.
  var local: LocalStanding?

  // State of the attempts.
  var attempts = 0
  /// How often the server denied the session in a row, and why it did last; nil once a store was bound since.
  var denials = 0
  var denied: SyncErrorCode?
  /// How often the waiting changes were stamped again since the server took one.
  var restamps = 0
  /// The earliest time at which the server wants the next attempt.
  var earliest: Int64 = 0
  var liveSince: Int64?
  /// Distinguishes connections: timers and answers of earlier ones are ignored.
  package internal(set) var generation: UInt64 = 0

  // State of one connection.
  var bound: Bound?
  /// The pages whose rest was asked for.
  var askedBehind: StagedPages?
  /// The pages that are coming.
  var arriving: ArrivingPages?
  var credit = SendCredit()
  var window: ReceiveWindow
  var pingNumber: UInt64 = 0
  /// Seconds between the pings that the server wants; 0 for none.
  var pingSeconds: Int64 = 0
  var isPongDue = false
  /// When the last ping was sent, and for how long its answer is waited for.
  var pingedAt: Int64 = 0
  var patience: Int64 = 0
  /// The last sign of life, and whether it was a part of something longer.
  var heardAt: Int64 = 0
  var isMoving = false
  /// Messages that have arrived and are not integrated yet.
  var queue: [Arrival] = []
  var isIntegrating = false
  /// Everything up to this number has been sent.
  var sent: UInt64 = 0
  /// What the file's types are.
  var schema = SyncSchema()
  /// Whether the server takes declarations, and the classes that were declared.
  var declares = false
  var declared: Set<Name> = []
  /// The server has judged everything up to this number.
  var judged: UInt64 = 0
  /// The number of the last reading of the outbox; results of earlier ones are ignored.
  package internal(set) var reading: UInt64 = 0
  var isReading = false
  /// Whether to read the outbox again after that.
  var isReadingDue = false
  var isUploadPlanned = false
  /// The last acknowledged cursor, the last refusal acknowledged as seen, and when that was.
  var acknowledged = Seq.zero
  var refusalAcknowledged = Seq.zero
  var acknowledgedAt: Int64?
  var isAcknowledgementPlanned = false
  /// The changeset whose refusal was told last: a long one comes in several entries.
  var toldRefusal: UInt64?
  /// The highest number that this file may have sent: what it had made when the connection began, and what was sent since.
  var made: UInt64 = 0
  /// Whether pending changes were done again, under numbers that an upload of an earlier connection may still take. Then `made` counts
  /// what was sent since, on this connection and later ones.
  var hasRedone = false

  /// The marks that the app waits for and that the next message will ask for.
  var marks: Set<UInt64> = []
  /// The mark whose answer is awaited, and the app's marks that it answers: all that were there when it was sent.
  var sentMark: (number: UInt64, marks: Set<UInt64>)?

  /// The content of one message, or of the messages of one transaction.
  struct Arrival: Sendable {
    var entries: [LogEntry] = []
    /// The size of the messages.
    var bytes = 0
    /// The server's answer to a mark, which follows entries.
    var mark: UInt64?

    /// Whether the last transaction is complete.
    var isWhole: Bool {
      if case .changeset(_, let changeset)? = entries.last?.body { !changeset.isContinued } else { true }
    }
  }

  /// Creates a session that is off.
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

  /// Handles an event, and returns the effects to perform, in order.
  ///
  /// - Parameters:
  ///   - now: milliseconds of any monotonic clock.
  ///   - random: from 0 up to 1, to spread attempts.
  package mutating func handle(_ event: SyncSessionEvent, at now: Int64, random: Double = 0) -> [SyncSessionEffect] {
    let before = state
    var effects: [SyncSessionEffect] = []
    switch event {
    case .start: if state == .off { begin(now, &effects) }
    case .stop: stop(&effects)
    case .network(let isThere): network(isThere, now, &effects)
    case .foreground: retryNow(now, &effects)
    case .token(let token): got(token, now, random, &effects)
    case .connected: connected(&effects)
    case .disconnected: if isConnected { fail(now, random, &effects) }
    case .received(let message, let bytes):
      guard isConnected else { break }
      note(isPart: false, now)
      receive(message, bytes, now, random, &effects)
    case .moved: if isConnected { note(isPart: true, now) }
    case .timer(let timer, let generation): if generation == self.generation { ring(timer, now, random, &effects) }
    case .standing(let standing): standingRead(standing, &effects)
    case .begunAnew: if state == .resetting { begunAnew(now, &effects) }
    case .written: planUpload(now, &effects)
    case .outbox(let entries, let reading): if reading == self.reading { upload(entries, &effects) }
    case .staged(let generation): if generation == self.generation { haveStaged(&effects) }
    case .integrated(let standing, let generation):
      if generation == self.generation { integrated(standing, now, random, &effects) }
    case .failedLocally:
      // What the disk did not take it need not be given again.
      arriving = nil
      if isConnected || state == .resetting { fail(now, random, &effects) }
    case .schemaDiffers(let text):
      guard isConnected || state == .resetting else { break }
      effects.append(.tell(.schemaConflict, text: text))
      suspend(.schema(.schemaConflict), &effects)
    case .mark(let number):
      marks.insert(number)
      sendMark(&effects)
    case .unmark(let number):
      marks.remove(number)
      sentMark?.marks.remove(number)
    }
    if state != before { effects.append(.report(state)) }
    return effects
  }
}

/// The parameters of a session.
package struct SyncSessionConfiguration: Sendable {
  /// The store's path on the server.
  package var path: String
  /// A name for lists of devices.
  package var device: String
  /// The maximal number of bytes of entries and pages under way.
  package var windowBytes: UInt64 = 4 << 20
  /// The number of bytes of pages that are put aside together: a part of what may be under way, so that the next page can always be sent.
  var stageBytes: UInt64 { windowBytes / 4 }
  /// The approximate number of bytes of changesets in one message.
  package var uploadBytes = 64 << 10
  /// The milliseconds for which writes are gathered.
  package var gathering: Int64 = 5
  /// The milliseconds before the first attempt after a failure; doubled each time.
  package var firstDelay: Int64 = 1_000
  package var longestDelay: Int64 = 300_000
  /// The milliseconds before a denied session tries again, since rights or the store may have changed; doubled each time.
  package var firstDeniedDelay: Int64 = 300_000
  package var longestDeniedDelay: Int64 = 3_600_000
  /// The milliseconds of being live after which the next failure counts as the first.
  package var settled: Int64 = 60_000
  /// The milliseconds to wait for the answer to a ping, without any sign of life.
  package var pongTimeout: Int64 = 30_000
  /// The same after the app was suspended, when the connection may be dead without a report.
  package var wakingTimeout: Int64 = 5_000

  /// Creates the default parameters for a path.
  package init(path: String, device: String = "") {
    self.path = path
    self.device = device
  }
}
