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
    state = .off
    (attempts, restamps) = (0, 0)
    (refused, hasRenewed) = (nil, false)
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
    // A connection that was idle while the app was suspended may be dead without a report.
    case .binding, .fetching, .live: ping(now, patience: min(configuration.pongTimeout, configuration.wakingTimeout), &effects)
    default: break
    }
  }

  private mutating func ping(_ now: Int64, patience: Int64, _ effects: inout [SyncSessionEffect]) {
    guard !isPongDue else { return }
    pingNumber &+= 1
    isPongDue = true
    effects.append(.send(.ping(number: pingNumber, roundTrip: 0)))
    effects.append(.wake(.pong, at: now + patience, generation: generation))
  }

  mutating func got(_ token: String?, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    // There is no new one now, because whoever gives them cannot be reached.
    if let token, token == refused {
      if state == .gettingToken { fail(now, random, &effects) }
      return
    }
    self.token = token
    switch state {
    case .gettingToken, .suspended(.login):
      if token == nil { state = .suspended(.login) } else { begin(now, &effects) }
    case .greeting, .binding, .fetching, .live:
      if let token { effects.append(.send(.authenticate(token: token))) }
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
    if state == .greeting { greet(&effects) }
  }

  /// Sends hello, bind and credit at once, in one round trip. A file that has pages waits for what the server can: whether it may be asked
  /// for the rest.
  private func greet(_ effects: inout [SyncSessionEffect]) {
    guard let local, let token else { return }
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
    let spread = Int64(Double(delay) * 0.25 * min(max(random, 0), 1))
    wait(until: max(now + delay - spread, earliest), &effects)
  }

  /// Twice as long each time.
  private func delay(after attempts: Int) -> Int64 {
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

  /// Makes the file begin anew.
  mutating func reset(_ cause: SyncResetCause, _ effects: inout [SyncSessionEffect]) {
    if isConnected { effects.append(.disconnect) }
    forgetConnection()
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
  }

  mutating func ring(_ timer: SyncSessionTimer, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    switch timer {
    case .retry: if state == .waiting { begin(max(now, earliest), &effects) }
    case .upload:
      isUploadPlanned = false
      readOutbox(&effects)
    case .acknowledge:
      isAcknowledgementPlanned = false
      acknowledge(now, &effects)
    case .ping:
      if isConnected { ping(now, patience: configuration.pongTimeout, &effects) }
    case .pong: if isConnected, isPongDue { fail(now, random, &effects) }
    }
  }
}
