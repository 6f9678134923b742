import SyncModel
import SyncProtocol

// Downloads: objects and entries, within the granted credit.

extension ServerConnection {
  /// Sends what was read, then starts the next read, unless one is under way, nothing is new, or the client takes no more.
  mutating func pump(_ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    sendRest(number, &effects)
    guard !isFull, let session = sessions[number], session.rest == nil, !session.isReading, session.credit.bytes > 0 else { return }
    let limit = min(configuration.pageBytes, Int(clamping: session.credit.bytes))
    switch session.state {
    case .binding: return
    case .fetching(let fetch):
      effects.append(
        .readObjects(
          session.key, session.place.path, of: session.history, changedAfter: fetch.start, behind: fetch.last, limitBytes: limit))
    case .live:
      guard session.hasNews else { return }
      // Reset before the read: an entry that arrives during the read counts as news again.
      sessions[number]?.hasNews = false
      effects.append(.readEntries(session.key, session.place, after: session.cursor, limitBytes: limit))
    }
    sessions[number]?.isReading = true
  }

  /// Continues reading once the client takes more.
  mutating func pumpAll(_ effects: inout [ServerConnectionEffect]) {
    for number in sessions.keys.sorted() { pump(number, &effects) }
  }

  mutating func news(_ key: SessionKey, _ effects: inout [ServerConnectionEffect]) {
    guard sessions[key.session]?.key == key else { return }
    sessions[key.session]?.hasNews = true
    pump(key.session, &effects)
  }

  mutating func entries(
    _ key: SessionKey, _ result: Result<LogPage, ServerStoreError>, _ effects: inout [ServerConnectionEffect]
  ) {
    guard var session = sessions[key.session], session.key == key else { return }
    session.isReading = false
    switch result {
    case .failure(let error): return fault(key.session, SyncRefusal(reading: error), &effects)
    case .success(let page) where page.history != session.history:
      fault(key.session, SyncRefusal(.historyChanged, "The store was restored, or removed and made anew."), &effects)
    case .success(let page):
      session.rest = PageRest(page)
      sessions[key.session] = session
      pump(key.session, &effects)
    }
  }

  /// Sends what is left of a page, message by message, until too much waits to be sent: a transaction may have hundreds of megabytes. What
  /// is left goes on once the client has taken some. It needs no credit, because the client grants none before a transaction is whole.
  ///
  /// **Invariant.** If anything is left afterwards, too much waits.
  private mutating func sendRest(_ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    while let rest = sessions[number]?.rest {
      if rest.isOver { return finish(rest, number, &effects) }
      guard !isFull, let entries = sessions[number]?.rest?.next(limitBytes: configuration.pageBytes) else { return }
      let bytes = sendCharged(.changes(session: number, entries), number, &effects)
      sessions[number]?.rest?.bytes += bytes
    }
  }

  private mutating func finish(_ rest: PageRest, _ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    guard var session = sessions[number] else { return }
    session.rest = nil
    session.cursor = max(session.cursor, rest.page.cursor)
    if rest.page.cursor < rest.page.head { session.hasNews = true }
    sessions[number] = session
    tellProgress(rest.page, rest.bytes, number, &effects)
    tellMarks(number, &effects)
  }

  mutating func objects(
    _ key: SessionKey, _ result: Result<StatePage, ServerStoreError>, _ effects: inout [ServerConnectionEffect]
  ) {
    guard var session = sessions[key.session], session.key == key, case .fetching(var fetch) = session.state else { return }
    session.isReading = false
    switch result {
    case .failure(let error): return fault(key.session, SyncRefusal(reading: error), &effects)
    // The entries between the bind and the purge would follow the pages, which lack what some of them lost against.
    case .success(let page) where fetch.asOf == nil && page.stable != session.stable:
      fault(key.session, SyncRefusal(.overloaded, "The store has just forgotten what all devices have seen."), &effects)
    case .success(var page):
      // Of what was judged after the store was bound the client does not know that it was: it learns it from the entries, also where the
      // pages include it.
      if fetch.asOf == nil { page.asOf = min(page.asOf, session.head) }
      fetch.asOf = fetch.asOf ?? page.asOf
      fetch.last = page.objects.last?.identity ?? fetch.last
      if features.contains(.rest), !page.isLast { page.next = fetch.next }
      session.state = .fetching(fetch)
      if page.isLast { (session.state, session.cursor, session.hasNews) = (.live, fetch.asOf ?? page.asOf, true) }
      sessions[key.session] = session
      sendCharged(.state(session: key.session, page), key.session, &effects)
      pump(key.session, &effects)
    }
  }

  /// Sends an estimate of how much follows, if anything does: per entry as many bytes as on this page.
  private mutating func tellProgress(_ page: LogPage, _ bytes: Int, _ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    guard page.cursor < page.head, !page.entries.isEmpty else { return }
    let left = UInt64(bytes / page.entries.count).multipliedReportingOverflow(by: page.head.rawValue - page.cursor.rawValue)
    send(.progress(session: number, head: page.head, bytesLeft: left.overflow ? .max : left.partialValue), &effects)
  }

  /// Sends a message, charges its bytes to the client's credit, and returns them.
  @discardableResult private mutating func sendCharged(
    _ message: ServerMessage, _ number: UInt32, _ effects: inout [ServerConnectionEffect]
  ) -> Int {
    let frame = message.frame
    _ = sessions[number]?.credit.take(frame.body.count)
    send(frame, &effects)
    return frame.body.count
  }

  // MARK: marks

  mutating func head(
    _ key: SessionKey, _ mark: UInt64, _ result: Result<Seq, ServerStoreError>, _ effects: inout [ServerConnectionEffect]
  ) {
    guard sessions[key.session]?.key == key else { return }
    switch result {
    case .failure(let error): return fault(key.session, SyncRefusal(error), &effects)
    case .success(let head):
      guard (sessions[key.session]?.marks.count ?? 0) < 64 else {
        return refuse(SyncRefusal(.limitExceeded, "Too many marks wait."), &effects)
      }
      sessions[key.session]?.marks.append((mark, head))
      sessions[key.session]?.hasNews = true
      tellMarks(key.session, &effects)
      pump(key.session, &effects)
    }
  }

  private mutating func tellMarks(_ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    // Within a transaction of several messages, the client expects nothing but its rest.
    guard let session = sessions[number], session.state == .live, session.rest == nil else { return }
    sessions[number]?.marks.removeAll { $0.head <= session.cursor }
    for mark in session.marks where mark.head <= session.cursor { send(.marked(session: number, number: mark.number), &effects) }
  }
}
