import SyncModel
import SyncProtocol

/// A server's side of one connection, as a pure state machine: events go in, effects to perform come out. No I/O, no clock and no
/// threads, so the same code runs in a server and in reproducible tests. Its input and output are parts, as they are on the wire.
///
/// | phase | what is legal from the client |
/// |---|---|
/// | `greeting` | `hello` |
/// | `verifying` | anything, which waits until it is known who speaks; little of it |
/// | `open` | everything but `hello` |
/// | `closed` | nothing: it is ignored |
///
/// Whatever the bytes are, they end in an answer, an error with its code, or a closed connection. Confined to its owner.
public struct ServerConnection: Sendable {
  enum Phase: Sendable {
    case greeting
    case verifying(Hello)
    case open(SyncIdentity)
    case closed
  }

  let configuration: ServerConnectionConfiguration
  var phase = Phase.greeting
  var sessions: [UInt32: ServerSession] = [:]
  /// What both sides can.
  private(set) var features: SyncFeatures = []
  /// The pages that the client has, by the number of a session that it will bind.
  var begun: [UInt32: BegunPages] = [:]
  /// Numbers of ended sessions: messages that the client sent before it learned of the end are ignored.
  var ended: Set<UInt32> = []
  var lastSerial: UInt64 = 0
  /// The bytes that wait to be sent.
  private(set) var unsentBytes = 0
  private var decoder: FrameDecoder
  private var encoder: FrameEncoder
  /// Messages that came before the user was verified.
  private var early: [SyncFrame] = []
  private var earlyBytes = 0
  /// When the connection began, and when something came of it last.
  private var opened: Int64 = 0
  private var lastHeard: Int64 = 0
  /// When the stores were told last that the client is there.
  private var lastNoted: Int64 = 0
  /// Whether a new token is being verified.
  private var isRenewing = false
  /// The end of the token that the client was told of.
  private var toldExpiry: Int64?

  /// Creates the state of a new connection.
  public init(_ configuration: ServerConnectionConfiguration = ServerConnectionConfiguration()) {
    self.init(configuration, sharing: nil)
  }

  /// Creates the state of a new connection that sends what others send, too.
  init(_ configuration: ServerConnectionConfiguration, sharing bodies: CompressedBodies?) {
    self.configuration = configuration
    // Whoever it is must not fill the memory before it is known who speaks.
    var first = configuration.limits
    first.messageBytes = min(first.messageBytes, first.partBytes)
    decoder = FrameDecoder(first)
    decoder.inflates = false
    var limits = configuration.limits
    limits.messageBytes = max(limits.messageBytes, FrameLimits.ofClient.messageBytes)
    encoder = FrameEncoder(limits, sharing: bodies)
  }

  /// The user; nil before he is verified, and after the end.
  public var identity: SyncIdentity? { if case .open(let identity) = phase { identity } else { nil } }

  /// The bound sessions and their stores.
  public var bound: [(key: SessionKey, path: StorePath)] {
    sessions.values.filter { $0.state != .binding }.map { ($0.key, $0.place.path) }
  }

  /// The bytes of uploads that wait to be judged.
  public var backlog: Int { sessions.values.reduce(0) { $0 + $1.line.bytes } }

  /// What waits to be handled for a session; nil after its end.
  func line(of key: SessionKey) -> UploadLine? { isBound(key) ? sessions[key.session]?.line : nil }

  /// The replica of a session; nil before it is bound and after its end.
  func replica(of key: SessionKey) -> ReplicaID? {
    guard isBound(key), let session = sessions[key.session], session.state != .binding else { return nil }
    return session.place.replica
  }

  /// Whether a session is still open.
  public func isBound(_ key: SessionKey) -> Bool { sessions[key.session]?.key == key }

  /// Whether more than this many bytes of uploads wait to be judged; the owner then stops reading the connection. Incomplete transactions
  /// do not count, since they cannot be judged before their rest has come.
  public func isBehind(_ bytes: Int) -> Bool { sessions.values.contains { $0.isWorking && $0.line.bytes > bytes } }

  /// Returns the effects of the beginning of a connection.
  public mutating func begin(at now: Int64) -> [ServerConnectionEffect] {
    (opened, lastHeard, lastNoted) = (now, now, now)
    return [.wake(.silence, at: now + configuration.greetingTime)]
  }

  /// Handles an event, and returns the effects to perform, in order.
  ///
  /// - Parameter now: milliseconds since 1970 by the server's clock.
  public mutating func handle(_ event: ServerConnectionEvent, at now: Int64) -> [ServerConnectionEffect] {
    if case .closed = phase { return [] }
    var effects: [ServerConnectionEffect] = []
    switch event {
    case .received(let part): receive(part, now, &effects)
    case .disconnected: end(&effects)
    case .verified(let result): verified(result, now, &effects)
    case .bound(let key, let result): bound(key, result, &effects)
    case .committed(let key, let result): committed(key, result, &effects)
    case .committedInPart(let key, let outcomes, let error): committed(key, .success(outcomes), butRefused: error, &effects)
    case .declared(let key, let result): declared(key, result, &effects)
    case .acknowledged(let key, let result): acknowledged(key, result, &effects)
    case .entries(let key, let result): entries(key, result, &effects)
    case .objects(let key, let result): objects(key, result, &effects)
    case .head(let key, let mark, let result): head(key, mark, result, &effects)
    case .news(let key): news(key, &effects)
    case .timer(let timer): ring(timer, now, &effects)
    case .drain(let seconds): leave(with: .goAway(seconds: seconds), &effects)
    case .expel(let refusal): refuse(refusal, &effects)
    case .granted(let key, let grant): granted(key, grant, &effects)
    case .taken(let bytes): taken(bytes, now, &effects)
    }
    return effects
  }

  // MARK: receiving

  private mutating func receive(_ part: [UInt8], _ now: Int64, _ effects: inout [ServerConnectionEffect]) {
    lastHeard = now
    do throws(FrameError) {
      guard let frame = try decoder.take(part) else { return }
      if case .verifying = phase { return try keep(frame) }
      try take(frame, &effects)
    } catch { return refuse(SyncRefusal(error.code, error.detail), &effects) }
    guard identity != nil, now - lastNoted >= ServerConnection.notingTime else { return }
    lastNoted = now
    notePresence(&effects)
  }

  /// Keeps the few messages that a client may send before it is verified.
  private mutating func keep(_ frame: SyncFrame) throws(FrameError) {
    earlyBytes += frame.body.count
    guard early.count < 2 * configuration.sessions, earlyBytes <= configuration.limits.partBytes else {
      throw FrameError(.limitExceeded, "Too much came before the connection was let in.")
    }
    early.append(frame)
  }

  private mutating func take(_ frame: SyncFrame, _ effects: inout [ServerConnectionEffect]) throws(FrameError) {
    let message = try ClientMessage(frame)
    switch (message, phase) {
    case (.hello(let hello), .greeting):
      guard hello.versions.contains(1) else {
        throw FrameError(.unknownVersion, "The client speaks \(hello.versions), the server 1.")
      }
      phase = .verifying(hello)
      effects.append(.verify(token: hello.token))
    case (.unknown, _): break
    case (.authenticate(let token), .open):
      guard !isRenewing else { throw FrameError(.outOfOrder, "A token is being looked at already.") }
      isRenewing = true
      effects.append(.verify(token: token))
    case (.ping(let number, _), .open): send(.pong(number: number), &effects)
    case (.bind(let session, let bind), .open(let identity)): try begin(session, bind, identity, &effects)
    case (.rest(let session, let pages), .open): try note(pages, session)
    case (_, .open): try take(message, frame.session, frame.body.count, &effects)
    default: throw FrameError(.outOfOrder, "The first message is 'hello', and there is one.")
    }
  }

  private mutating func verified(
    _ result: Result<SyncIdentity, SyncRefusal>, _ now: Int64, _ effects: inout [ServerConnectionEffect]
  ) {
    switch (result, phase) {
    case (.failure(let refusal), _): refuse(refusal, &effects)
    case (.success(let identity), .verifying(let hello)):
      phase = .open(identity)
      features = hello.features.intersection([.compression, .declarations, .rest])
      send(
        .welcome(
          Welcome(
            version: 1, features: features, serverTime: UInt64(max(0, now)), pingSeconds: configuration.pingSeconds,
            messageBytes: UInt64(configuration.limits.messageBytes))), &effects)
      encoder.compresses = features.contains(.compression)
      (decoder.limits, decoder.inflates) = (configuration.limits, features.contains(.compression))
      planExpiry(identity, &effects)
      let frames = early
      (early, earlyBytes) = ([], 0)
      do throws(FrameError) { for frame in frames { try take(frame, &effects) } } catch {
        refuse(SyncRefusal(error.code, error.detail), &effects)
      }
    case (.success(let identity), .open(let old)):
      isRenewing = false
      guard identity.user == old.user else { return refuse(SyncRefusal(.tokenInvalid, "It is another user's."), &effects) }
      phase = .open(identity)
      planExpiry(identity, &effects)
      send(.authenticated, &effects)
    default: break
    }
  }

  // MARK: time

  private func planExpiry(_ identity: SyncIdentity, _ effects: inout [ServerConnectionEffect]) {
    guard let expires = identity.expires else { return }
    // A client that has no new token may send the last one again: told of its end again at once, it would do nothing else.
    effects.append(.wake(.expiry, at: expires == toldExpiry ? expires : expires - configuration.expiryNotice))
  }

  private mutating func ring(_ timer: ServerConnectionTimer, _ now: Int64, _ effects: inout [ServerConnectionEffect]) {
    switch (timer, phase) {
    case (.silence, .open):
      let patience = Int64(configuration.pingSeconds) * 3000
      guard now - lastHeard < patience else { return end(&effects) }
      effects.append(.wake(.silence, at: lastHeard + patience))
    // Verifying takes the server's time, not the client's.
    case (.silence, .verifying): effects.append(.wake(.silence, at: now + configuration.greetingTime))
    case (.silence, _):
      let end = opened + configuration.greetingTime
      guard now < end else { return refuse(SyncRefusal(.outOfOrder, "Nobody said who it is."), &effects) }
      effects.append(.wake(.silence, at: end))
    case (.expiry, .open(let identity)):
      guard let expires = identity.expires else { return }
      // The server's clock was set back since the timer was set, which is the only one.
      guard now >= expires - configuration.expiryNotice else { return planExpiry(identity, &effects) }
      if now >= expires { return refuse(SyncRefusal(.tokenExpired), &effects) }
      if expires != toldExpiry { send(.expiring(seconds: UInt64((expires - now) / 1000)), &effects) }
      toldExpiry = expires
      effects.append(.wake(.expiry, at: expires))
    case (.expiry, _): break
    }
  }

  // MARK: sending

  mutating func send(_ message: ServerMessage, _ effects: inout [ServerConnectionEffect]) { send(message.frame, &effects) }

  mutating func send(_ frame: SyncFrame, _ effects: inout [ServerConnectionEffect]) {
    do throws(FrameError) {
      let parts = try encoder.parts(of: frame)
      unsentBytes += parts.reduce(0) { $0 + $1.count }
      effects.append(.send(parts))
    } catch {
      refuse(SyncRefusal(error.code, error.detail), &effects)
    }
  }

  /// Whether the client is too slow in taking what is sent: the owner then stops reading the connection.
  public var isFull: Bool { unsentBytes > configuration.outgoingBytes }

  private mutating func taken(_ bytes: Int, _ now: Int64, _ effects: inout [ServerConnectionEffect]) {
    let wasFull = isFull
    unsentBytes = max(0, unsentBytes - bytes)
    // A client that takes a part of what waits is there, though its pings may not be read. The last part may lie in the buffers of a dead
    // connection.
    if wasFull || unsentBytes > 0 { lastHeard = now }
    if wasFull, !isFull { pumpAll(&effects) }
  }

  /// Ends the whole connection, with a reason.
  mutating func refuse(_ refusal: SyncRefusal, _ effects: inout [ServerConnectionEffect]) {
    leave(
      with: .error(session: 0, code: refusal.code, retryAfterSeconds: refusal.retryAfterSeconds, text: refusal.text), &effects)
  }

  private mutating func leave(with message: ServerMessage, _ effects: inout [ServerConnectionEffect]) {
    // A reason is only a few bytes and always fits.
    if let parts = try? encoder.parts(of: message.frame) { effects.append(.send(parts)) }
    end(&effects)
  }

  private mutating func end(_ effects: inout [ServerConnectionEffect]) {
    for session in sessions.values { effects.append(.unbind(session.key, session.place.path)) }
    (sessions, begun) = ([:], [:])
    phase = .closed
    effects.append(.close)
  }
}
