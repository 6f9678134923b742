import SyncModel
import SyncProtocol

// The sessions of a connection: how they begin and end, and uploads.

extension ServerConnection {
  mutating func begin(
    _ number: UInt32, _ bind: Bind, _ identity: SyncIdentity, _ effects: inout [ServerConnectionEffect]
  ) throws(FrameError) {
    guard number != 0, sessions[number] == nil else { throw FrameError(.outOfOrder, "The session \(number) is bound already.") }
    let pages = begun.removeValue(forKey: number)
    guard sessions.count < configuration.sessions else {
      return fault(number, SyncRefusal(.limitExceeded, "A connection carries \(configuration.sessions) stores."), &effects)
    }
    ended.remove(number)
    guard let path = StorePath(ownPath(bind.path, of: identity)) else {
      return fault(number, SyncRefusal(.unknownStore, "'\(bind.path)' is no path of a store."), &effects)
    }
    lastSerial += 1
    let key = SessionKey(session: number, serial: lastSerial)
    sessions[number] = ServerSession(key, path, bind, pages, uploadWindow: configuration.uploadWindow)
    effects.append(.bind(key, path, bind, identity))
  }

  /// Notes the pages that a client has of the store that it is about to bind.
  mutating func note(_ pages: BegunPages, _ number: UInt32) throws(FrameError) {
    guard features.contains(.rest), number != 0, sessions[number] == nil, begun[number] == nil else {
      throw FrameError(.outOfOrder, "The rest of pages is asked for once, before the session \(number) is bound.")
    }
    guard begun.count < configuration.sessions else { throw FrameError(.limitExceeded, "No more stores can be bound than are asked for.") }
    begun[number] = pages
  }

  /// Replaces `~` by the user's name: `/~/tasks` is his own store.
  private func ownPath(_ path: String, of identity: SyncIdentity) -> String {
    path.hasPrefix("/~/") ? "/\(identity.user)/\(path.dropFirst(3))" : path
  }

  mutating func bound(
    _ key: SessionKey, _ result: Result<(StoreGrant, Standing), SyncRefusal>, _ effects: inout [ServerConnectionEffect]
  ) {
    guard var session = sessions[key.session], session.key == key else { return }
    switch result {
    case .failure(let refusal): fault(key.session, refusal, &effects)
    case .success(let (grant, standing)):
      let bind = session.bind
      var mode = standing.mode(of: bind)
      var fetch = ServerSession.Fetch(start: mode == .delta ? bind.cursor : .zero)
      if let begun = session.begun, standing.goesOn(begun, in: mode), let last = ServerSession.Fetch.last(begun.next) {
        (fetch.last, fetch.asOf, mode) = (last, begun.asOf, .rest)
      }
      session.grant = grant
      session.cursor = bind.cursor
      (session.history, session.head, session.stable) = (standing.history, standing.head, standing.stable)
      session.hasNews = true
      if let said = standing.acknowledgement(in: bind) { session.line.append(said) }
      switch mode {
      case .resume, .reset: session.state = .live
      case .delta, .snapshot, .rest: session.state = .fetching(fetch)
      }
      let early = session.early
      (session.early, session.earlyBytes) = ([], 0)
      sessions[key.session] = session
      send(
        .bound(
          session: key.session,
          Bound(
            mode: mode, rights: grant.rights, history: standing.history, head: standing.head, stable: standing.stable,
            judged: standing.judged, judgedStamp: standing.judgedStamp, refusal: standing.refusal, refused: standing.refused,
            schemaHash: 0, credit: configuration.uploadWindow)), &effects)
      // The client begins anew, and then binds again.
      if mode == .reset { return drop(key.session, &effects) }
      work(key.session, &effects)
      do throws(FrameError) { for (message, bytes) in early { try take(message, key.session, bytes, &effects) } } catch {
        return refuse(SyncRefusal(error.code, error.detail), &effects)
      }
      pump(key.session, &effects)
    }
  }

  /// Handles a message of a session.
  mutating func take(
    _ message: ClientMessage, _ number: UInt32, _ bytes: Int, _ effects: inout [ServerConnectionEffect]
  ) throws(FrameError) {
    guard var session = sessions[number] else {
      if ended.contains(number) { return }
      throw FrameError(.outOfOrder, "The session \(number) is not bound.")
    }
    if session.state == .binding {
      // No large message comes before: changesets need the credit granted by `bound`.
      guard session.early.count < 64, session.earlyBytes + bytes <= configuration.limits.partBytes else {
        throw FrameError(.limitExceeded, "Too much came before the store was bound.")
      }
      sessions[number]?.early.append((message, bytes))
      sessions[number]?.earlyBytes += bytes
      return
    }
    switch message {
    case .upload(_, let changesets):
      let share = bytes / max(1, changesets.count)
      for changeset in changesets { session.line.append(.changeset(changeset), refusalSeen: session.refusalSeen, bytes: share) }
    case .void(_, let clientSeq, let objects):
      session.line.append(.void(clientSeq: clientSeq, objects: objects), refusalSeen: session.refusalSeen, bytes: bytes)
    case .acknowledge(_, let state):
      if session.line.isOpen { throw FrameError(.outOfOrder, "A transaction is not whole yet.") }
      session.refusalSeen = max(session.refusalSeen, state.refusalSeen)
      session.line.append(state)
    case .credit(_, let more): session.credit.grant(more)
    case .mark(_, let mark):
      guard session.line.marks < 64 else { throw FrameError(.limitExceeded, "Too many marks wait.") }
      session.line.append(mark: mark)
    case .unbind:
      drop(number, &effects)
      return send(.unbound(session: number), &effects)
    case .schema(_, let declared):
      if session.line.isOpen { throw FrameError(.outOfOrder, "A transaction is not whole yet.") }
      guard session.line.declarations < 64 else { throw FrameError(.limitExceeded, "Too many declarations wait.") }
      do throws(CodingError) { session.line.append(try SyncSchema(decoding: declared), bytes: bytes) } catch {
        throw FrameError(.badFrame, "A declaration of types is wrong at byte \(error.position): \(error.reason).")
      }
    default: throw FrameError(.outOfOrder, "It belongs to no store.")
    }
    sessions[number] = session
    // The sum over all stores of the connection: binding many does not raise the limit.
    guard backlog <= configuration.transactionBytes else {
      throw FrameError(.limitExceeded, "More than \(configuration.transactionBytes) bytes of changesets wait, or one transaction has more.")
    }
    work(number, &effects)
    pump(number, &effects)
  }

  /// The milliseconds after which the stores are told that a client is still there: well below `ServerLog.absence`. A client that only
  /// pings has nothing to acknowledge, and another server of the same stores does not know that it is connected.
  static let notingTime: Int64 = 6 * 3_600_000

  /// Tells the stores that their replicas are there, by acknowledgements of nothing. A session with something under way tells it the next
  /// time, if not by that: uploads and acknowledgements do, and declarations do not.
  mutating func notePresence(_ effects: inout [ServerConnectionEffect]) {
    for number in sessions.keys.sorted() {
      guard let session = sessions[number], session.state != .binding, !session.isWorking, session.line.count == 0, !session.line.isOpen
      else { continue }
      sessions[number]?.line.append(Acknowledgement(cursor: .zero, pendingBase: .zero, refusalSeen: .zero))
      work(number, &effects)
    }
  }

  // MARK: uploads

  /// Starts the next upload step, unless one is under way.
  private mutating func work(_ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    guard let session = sessions[number], session.state != .binding else { return }
    var next = sessions[number]?.nextStep()
    while case .mark(let mark)? = next {
      effects.append(.readHead(session.key, session.place.path, mark: mark))
      next = sessions[number]?.nextStep()
    }
    switch next {
    case nil, .mark: break
    case .acknowledge(let state): effects.append(.acknowledge(session.key, session.place, state))
    case .declare(let schema):
      // Who may not write fixes nothing.
      let taken = session.grant.rights.contains(.write) ? schema : SyncSchema()
      effects.append(.declare(session.key, session.place.path, taken))
    case .commit(let uploads, let refusalSeen, let bytes):
      if let grant = sessions[number]?.window.settle(bytes) { send(.credit(session: number, bytes: grant), &effects) }
      let mayWrite = session.grant.rights.contains(.write)
      effects.append(.commit(session.key, session.place, uploads, refusalSeen: refusalSeen, mayWrite: mayWrite))
    }
  }

  /// - Parameter rest: why the uploads without an outcome were not judged; nil if all have one.
  mutating func committed(
    _ key: SessionKey, _ result: Result<[UploadOutcome], ServerStoreError>, butRefused rest: ServerStoreError? = nil,
    _ effects: inout [ServerConnectionEffect]
  ) {
    guard let session = sessions[key.session], session.key == key else { return }
    sessions[key.session]?.isWorking = false
    switch result {
    case .failure(let error): return fault(key.session, SyncRefusal(error), &effects)
    case .success(let outcomes):
      let accepted = zip(session.judging, outcomes).filter { if case .accepted = $0.1 { true } else { false } }
      if let (last, _) = accepted.last { send(.acknowledged(session: key.session, clientSeq: last), &effects) }
      var isBehindRefusal = false
      for outcome in outcomes {
        switch outcome {
        case .accepted: sessions[key.session]?.hasNews = true
        case .duplicate: break
        case .refused:
          sessions[key.session]?.hasNews = true
          isBehindRefusal = true
        // The client will send it again.
        case .behindRefusal: isBehindRefusal = true
        case .gap(let expected):
          return fault(key.session, SyncRefusal(.outOfOrder, "The changeset \(expected) is missing."), &effects)
        case .incomplete: return fault(key.session, SyncRefusal(.outOfOrder, "A transaction is not whole."), &effects)
        case .skewed: return fault(key.session, SyncRefusal(.clockSkew), &effects)
        case .forked: return fault(key.session, SyncRefusal(.replicaForked), &effects)
        }
      }
      // Behind a refusal nothing is looked at: the rest is asked about when it comes again.
      if let rest, !isBehindRefusal { return fault(key.session, SyncRefusal(rest), &effects) }
    }
    work(key.session, &effects)
    pump(key.session, &effects)
  }

  mutating func declared(
    _ key: SessionKey, _ result: Result<SyncSchema, ServerStoreError>, _ effects: inout [ServerConnectionEffect]
  ) {
    guard sessions[key.session]?.key == key else { return }
    sessions[key.session]?.isWorking = false
    switch result {
    case .failure(let error): return fault(key.session, SyncRefusal(error), &effects)
    case .success(let schema): send(.schema(session: key.session, schema.encoded), &effects)
    }
    work(key.session, &effects)
  }

  mutating func acknowledged(
    _ key: SessionKey, _ result: Result<Void, ServerStoreError>, _ effects: inout [ServerConnectionEffect]
  ) {
    guard sessions[key.session]?.key == key else { return }
    sessions[key.session]?.isWorking = false
    if case .failure(let error) = result { return fault(key.session, SyncRefusal(error), &effects) }
    work(key.session, &effects)
  }

  /// Notes changed rights: later uploads are judged by them.
  mutating func granted(_ key: SessionKey, _ grant: StoreGrant, _ effects: inout [ServerConnectionEffect]) {
    guard let session = sessions[key.session], session.key == key else { return }
    if grant.rights.isEmpty { return fault(key.session, SyncRefusal(.unknownStore), &effects) }
    if !grant.rights.contains(.read) { return fault(key.session, SyncRefusal(.readDenied), &effects) }
    sessions[key.session]?.grant = grant
  }

  // MARK: ending

  /// Reports an error of a session, and ends it; the connection stays open.
  mutating func fault(_ number: UInt32, _ refusal: SyncRefusal, _ effects: inout [ServerConnectionEffect]) {
    drop(number, &effects)
    send(
      .error(session: number, code: refusal.code, retryAfterSeconds: refusal.retryAfterSeconds, text: refusal.text), &effects)
  }

  private mutating func drop(_ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    if let session = sessions.removeValue(forKey: number) { effects.append(.unbind(session.key, session.place.path)) }
    if ended.count < 4 * configuration.sessions { ended.insert(number) }
  }
}
