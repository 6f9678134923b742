import SyncModel
import SyncProtocol

// Messages from the server.

extension SyncSession {
  mutating func receive(
    _ message: ServerMessage, _ bytes: Int, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]
  ) {
    switch (message, state) {
    case (.welcome(let welcome), .greeting):
      state = .binding
      // The server has accepted the token: when it ends, that is a matter of its own, whether a store was bound with it or not.
      (refused, hasRenewed) = (nil, false)
      pingSeconds = Int64(min(welcome.pingSeconds, 3600))
      declares = welcome.features.contains(.declarations)
      if welcome.serverTime <= SyncSession.latestTime { effects.append(.setServerTime(welcome.serverTime)) }
      planPing(now, &effects)
      askForRest(welcome.features, &effects)
    case (.bound(SyncSession.number, let bound), .binding): bind(bound, now, random, &effects)
    case (.state(SyncSession.number, let page), .fetching): take(page, bytes, now, random, &effects)
    case (.changes(SyncSession.number, let entries), .live), (.changes(SyncSession.number, let entries), .fetching):
      arrived(entries, bytes)
      integrateNext(&effects)
    case (.marked(SyncSession.number, let number), .live):
      queue.append(Arrival(mark: number))
      integrateNext(&effects)
    case (.acknowledged(SyncSession.number, let number), .live), (.acknowledged(SyncSession.number, let number), .fetching):
      if number > judged { restamps = 0 }
      judged = max(judged, number)
    case (.credit(SyncSession.number, let more), .live), (.credit(SyncSession.number, let more), .fetching):
      credit.grant(more)
      readOutbox(&effects)
    case (.pong(let number), _) where number == pingNumber && isPongDue:
      isPongDue = false
      planPing(now, &effects)
    case (.expiring, _): expiring(now, random, &effects)
    case (.goAway(let seconds), _): fail(now, random, retryAfterSeconds: seconds, &effects)
    case (.error(_, let code, let seconds, let text), _): fault(code, seconds, text, now, random, &effects)
    case (.authenticated, _), (.progress, _), (.schema, _), (.unknown, _): break
    case (.unbound, _): fail(now, random, &effects)
    default: refuse(now, random, &effects)
    }
  }

  /// Ends a connection on which the server says what it may not.
  mutating func refuse(_ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    effects.append(.tell(.outOfOrder, text: "The server sent what does not belong here."))
    fail(now, random, &effects)
  }

  /// The latest time that is believed of a server's clock: in the year 2109. With one at the end of time, no stamp would be left for later
  /// writes.
  private static let latestTime: UInt64 = 1 << 42

  private mutating func bind(_ bound: Bound, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    guard let local else { return }
    if local.isForked(judged: bound.judged, stamp: bound.judgedStamp) { return reset(.otherHistory, &effects) }
    self.bound = bound
    credit.grant(bound.credit)
    (sent, judged) = (bound.judged, bound.judged)
    (acknowledged, refusalAcknowledged) = (local.cursor, local.refusalSeen)
    denied = nil
    switch bound.mode {
    case .resume: becomeLive(now, &effects)
    case .delta, .snapshot: state = .fetching(bound.mode)
    case .rest:
      guard let askedBehind else { return refuse(now, random, &effects) }
      arriving = ArrivingPages(staged: askedBehind)
      state = .fetching(askedBehind.begun.mode)
    // Across histories, or after a restore, nothing proves that this file made what the server knows of the replica.
    case .reset: reset(.otherHistory, &effects)
    }
  }

  private mutating func becomeLive(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    state = .live
    liveSince = now
    sendMark(&effects)
    readOutbox(&effects)
    integrateNext(&effects)
  }

  /// Sends one mark for all that wait, unless one is under way: a server ends a connection on which too many wait.
  mutating func sendMark(_ effects: inout [SyncSessionEffect]) {
    guard state == .live, sentMark == nil, let number = marks.max() else { return }
    sentMark = (number, marks)
    marks = []
    effects.append(.send(.mark(session: SyncSession.number, number: number)))
  }

  // MARK: entries

  /// A transaction larger than a message comes in several messages, and is integrated as a whole.
  private mutating func arrived(_ entries: [LogEntry], _ bytes: Int) {
    if let last = queue.last, !last.isWhole {
      queue[queue.count - 1].entries += entries
      queue[queue.count - 1].bytes += bytes
    } else {
      queue.append(Arrival(entries: entries, bytes: bytes))
    }
  }

  private mutating func integrateNext(_ effects: inout [SyncSessionEffect]) {
    guard state == .live, !isIntegrating else { return }
    while let mark = queue.first?.mark {
      queue.removeFirst()
      guard let sent = sentMark, sent.number == mark else { continue }
      for reached in sent.marks.sorted() { effects.append(.reached(mark: reached)) }
      sentMark = nil
      sendMark(&effects)
    }
    guard let next = queue.first, next.isWhole else { return }
    if next.entries.contains(where: isAnothers) { return reset(.otherHistory, &effects) }
    isIntegrating = true
    effects.append(.integrate(next.entries, generation: generation))
  }

  /// Whether an entry answers what this file has never sent: a copy of the file has, as the same replica; or an earlier connection had, and
  /// the file has done its changes again since, as others of the numbers. Taken for an answer to the file's own change of the number, it
  /// would remove that from the outbox, though no server has it. Of a number that both have sent, the server says so.
  private func isAnothers(_ entry: LogEntry) -> Bool {
    switch entry.body {
    case .own(let number), .refusal(let number, _, _, _): number > made
    case .changeset, .purge, .schema: false
    }
  }

  mutating func integrated(
    _ standing: LocalStanding, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]
  ) {
    guard isIntegrating else { return }
    isIntegrating = false
    local = standing
    if case .fetching = state {
      if standing.recovery != nil { (hasRedone, made) = (true, judged) }
      settle(arriving?.bytes ?? 0, &effects)
      arriving = nil
      acknowledge(now, &effects)
      return becomeLive(now, &effects)
    }
    guard !queue.isEmpty else { return }
    let done = queue.removeFirst()
    settle(done.bytes, &effects)
    planAcknowledgement(now, random, &effects)
    for entry in done.entries {
      guard case .refusal(let clientSeq, let code, let text, _) = entry.body else { continue }
      if toldRefusal != clientSeq { effects.append(.tell(code, text: text)) }
      toldRefusal = clientSeq
      // The server ignored what was sent after the refused changeset: it is sent again, or as void.
      judged = max(judged, clientSeq)
      sent = min(sent, clientSeq)
      isReading = false
    }
    readOutbox(&effects)
    integrateNext(&effects)
  }

  private var isBound: Bool {
    switch state {
    case .live, .fetching: true
    default: false
    }
  }

  /// The fewest milliseconds between acknowledgements.
  private static let acknowledgementTime: Int64 = 1_000

  /// Grants the server as much as was processed.
  mutating func settle(_ bytes: Int, _ effects: inout [SyncSessionEffect]) {
    if let grant = window.settle(bytes) { effects.append(.send(.credit(session: SyncSession.number, bytes: grant))) }
  }

  /// The server needs to know what this file has for what it may forget, which is not urgent: a stream of changes is acknowledged once in
  /// one or two seconds, and after the first of them not by all devices of a store at once. A refusal that was seen is told at once,
  /// because until then the server refuses what came after it.
  private mutating func planAcknowledgement(_ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    if (local?.refusalSeen ?? .zero) > refusalAcknowledged { return acknowledge(now, &effects) }
    if isAcknowledgementPlanned { return }
    let due = acknowledgedAt.map { $0 + SyncSession.acknowledgementTime } ?? now
    if now >= due { return acknowledge(now, &effects) }
    isAcknowledgementPlanned = true
    let spread = Int64(Double(SyncSession.acknowledgementTime) * min(max(random, 0), 1))
    effects.append(.wake(.acknowledge, at: due + spread, generation: generation))
  }

  mutating func acknowledge(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    guard isBound, let local, local.cursor >= acknowledged else { return }
    (acknowledged, refusalAcknowledged, acknowledgedAt) = (local.cursor, local.refusalSeen, now)
    let state = Acknowledgement(cursor: local.cursor, pendingBase: local.pendingBase, refusalSeen: local.refusalSeen)
    effects.append(.send(.acknowledge(session: SyncSession.number, state)))
  }

  // MARK: errors

  private mutating func fault(
    _ code: SyncErrorCode, _ seconds: UInt64, _ text: String, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]
  ) {
    switch code.reaction {
    case .reconnect:
      effects.append(.tell(code, text: text))
      fail(now, random, retryAfterSeconds: seconds, &effects)
    case .renewToken: renewToken(code, text, &effects)
    case .stop:
      effects.append(.tell(code, text: text))
      deny(code, now, random, &effects)
    // The refusal itself comes as an entry, with the objects' states.
    case .compensate: break
    case .stopForSchema:
      effects.append(.tell(code, text: text))
      suspend(.schema(code), &effects)
    // Pending changes are stamped again by the server's clock, on top of the server's state.
    case .restamp:
      restamps += 1
      // Once is what a wrong clock takes. More are told, and take their time.
      if restamps > 1 { effects.append(.tell(code, text: text)) }
      reset(.clock, &effects)
    case .reset: reset(code == .stateDiffers ? .objectsDiffer : .otherHistory, &effects)
    case .wait:
      effects.append(.tell(code, text: text))
      fail(now, random, retryAfterSeconds: seconds, &effects)
    }
  }
}
