import SyncModel
import SyncProtocol

// Connecting and disconnecting.

extension SyncSession {
  /// Gets what a connection needs, one thing after the other, then connects.
  mutating func begin(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    if !isNetworkThere {
      state = .waitingForNetwork
    } else if now < earliest {
      wait(until: earliest, &effects)
    } else if token == nil {
      state = .gettingToken
      effects.append(.getToken(isNew: refused != nil))
    } else {
      state = .connecting
      generation &+= 1
      local = nil
      effects.append(.readStanding)
      effects.append(.connect)
    }
  }

  mutating func stop(_ effects: inout [SyncSessionEffect]) {
    // Otherwise the server would keep what this file does not need, until it connects again and there is news.
    if isAcknowledgementPlanned { acknowledge(0, &effects) }
    if isConnected { effects.append(.disconnect) }
    forgetConnection()
    // Until the next start, another replicator may send what the file has.
    hasRedone = false
    state = .off
    (attempts, restamps) = (0, 0)
    (refused, hasRenewed) = (nil, false)
    (renewals, renewedAt) = (0, nil)
    (denials, denied) = (0, nil)
  }

  mutating func network(_ isThere: Bool, _ now: Int64, _ effects: inout [SyncSessionEffect]) {
    isNetworkThere = isThere
    if isThere { return retryNow(now, &effects) }
    // A lost connection is reported by itself.
    if state == .waiting { state = .waitingForNetwork }
  }

  mutating func retryNow(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    switch state {
    case .waitingForNetwork, .waiting:
      generation &+= 1
      begin(now, &effects)
    case .binding, .fetching, .live: pingAfterSleep(now, &effects)
    default: break
    }
  }

  mutating func connected(_ effects: inout [SyncSessionEffect]) {
    guard state == .connecting else { return }
    state = .greeting
    greet(&effects)
  }

  mutating func begunAnew(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    if restamps < 2 { begin(now, &effects) } else { wait(until: now + delay(after: restamps), &effects) }
  }

  mutating func standingRead(_ standing: LocalStanding, _ effects: inout [SyncSessionEffect]) {
    // A connection sends one hello, with the standing that was read first; an earlier connection may have asked too.
    guard isConnected, local == nil else { return }
    (local, schema) = (standing, standing.schema)
    if !hasRedone { made = standing.clientSeq }
    if state == .greeting { greet(&effects) }
  }

  /// Sends hello, bind and credit at once, in one round trip. A file that has pages waits for what the server can: whether it may be asked
  /// for the rest.
  mutating func greet(_ effects: inout [SyncSessionEffect]) {
    guard let local, let token else { return }
    given = token
    let features: SyncFeatures = [.compression, .declarations, .rest]
    effects.append(.send(.hello(Hello(versions: [1], features: features, token: token, device: configuration.device))))
    if local.staged == nil { askForStore(local, &effects) }
  }

  /// The same for a file that has pages, once it is known what the server can.
  mutating func askForRest(_ features: SyncFeatures, _ effects: inout [SyncSessionEffect]) {
    guard let local, let staged = local.staged else { return }
    if features.contains(.rest), staged.canGoOn {
      askedBehind = staged
      effects.append(.send(.rest(session: SyncSession.number, staged.begun)))
    }
    askForStore(local, &effects)
  }

  private func askForStore(_ local: LocalStanding, _ effects: inout [SyncSessionEffect]) {
    effects.append(
      .send(
        .bind(
          session: SyncSession.number,
          Bind(
            path: configuration.path, replica: local.replica, secret: local.secret, cursor: local.cursor, history: local.history,
            refusalSeen: local.refusalSeen, pendingBase: local.pendingBase, schemaHash: 0))))
    effects.append(.send(.credit(session: SyncSession.number, bytes: configuration.windowBytes)))
  }

  /// The session's number on its connection.
  static let number: UInt32 = 1

  /// Ends a lost or unusable connection. Each further attempt waits twice as long, with a random part so that clients do not reconnect at
  /// once.
  ///
  /// - Parameter seconds: the least wait that the server asked for.
  mutating func fail(_ now: Int64, _ random: Double, retryAfterSeconds seconds: UInt64 = 0, _ effects: inout [SyncSessionEffect]) {
    if isConnected { effects.append(.disconnect) }
    keepPages(&effects)
    if let liveSince, now - liveSince >= configuration.settled { attempts = 0 }
    forgetConnection()
    let delay = delay(after: attempts)
    attempts += 1
    earliest = now + Int64(min(seconds, 86_400)) * 1000
    wait(until: max(now + spread(delay, random), earliest), &effects)
  }

  /// A delay less a random part of it, up to a quarter.
  func spread(_ delay: Int64, _ random: Double) -> Int64 { delay - Int64(Double(delay) * 0.25 * min(max(random, 0), 1)) }

  /// Twice as long each time.
  func delay(after attempts: Int) -> Int64 {
    min(configuration.firstDelay << Int64(min(attempts, 20)), configuration.longestDelay)
  }

  private mutating func wait(until time: Int64, _ effects: inout [SyncSessionEffect]) {
    guard isNetworkThere else { return state = .waitingForNetwork }
    state = .waiting
    effects.append(.wake(.retry, at: time, generation: generation))
  }

  mutating func suspend(_ reason: Suspension, _ effects: inout [SyncSessionEffect]) {
    if isConnected { effects.append(.disconnect) }
    keepPages(&effects)
    forgetConnection()
    state = .suspended(reason)
  }

  /// Stops until rights or the store change. Nobody tells the device when they have, and there may be nobody at it: so it looks again by
  /// itself, after minutes, ever later.
  mutating func deny(_ code: SyncErrorCode, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    if let liveSince, now - liveSince >= configuration.settled { denials = 0 }
    suspend(.denied(code), &effects)
    denied = code
    // A suspended user is turned away ahead of `welcome`, though his token is a good one; at the next try it may have ended.
    hasRenewed = false
    let delay = min(configuration.firstDeniedDelay << Int64(min(denials, 20)), configuration.longestDeniedDelay)
    denials += 1
    effects.append(.wake(.retry, at: now + spread(delay, random), generation: generation))
  }

  /// Makes the file begin anew.
  mutating func reset(_ cause: SyncResetCause, _ effects: inout [SyncSessionEffect]) {
    if isConnected { effects.append(.disconnect) }
    forgetConnection()
    hasRedone = false
    state = .resetting
    effects.append(.reset(cause))
  }

  private mutating func forgetConnection() {
    generation &+= 1
    reading &+= 1
    // What was asked for and not answered is asked for again.
    marks.formUnion(sentMark?.marks ?? [])
    sentMark = nil
    (bound, askedBehind, arriving, queue, local) = (nil, nil, nil, [], nil)
    (declares, declared) = (false, [])
    (isPongDue, isIntegrating, isReading, isUploadPlanned) = (false, false, false, false)
    isReadingDue = false
    credit = SendCredit()
    window = ReceiveWindow(size: configuration.windowBytes)
    (sent, judged, acknowledged, liveSince) = (0, 0, .zero, nil)
    (refusalAcknowledged, acknowledgedAt, isAcknowledgementPlanned) = (.zero, nil, false)
    toldRefusal = nil
    (given, renewal, isMoving) = (nil, .none, false)
  }

  mutating func ring(_ timer: SyncSessionTimer, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    switch timer {
    case .retry:
      switch state {
      case .waiting, .suspended(.denied): begin(max(now, earliest), &effects)
      default: break
      }
    case .upload:
      isUploadPlanned = false
      readOutbox(&effects)
    case .acknowledge:
      isAcknowledgementPlanned = false
      acknowledge(now, &effects)
    case .ping:
      if isConnected { ping(now, patience: configuration.pongTimeout, &effects) }
    case .pong: if isConnected, isPongDue { missPong(now, random, &effects) }
    case .renewal: if renewal == .planned { askForToken(&effects) }
    }
  }
}
