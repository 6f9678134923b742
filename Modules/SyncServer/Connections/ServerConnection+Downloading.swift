import SyncModel
import SyncProtocol

// Downloads: objects and entries, within the granted credit.

extension ServerConnection {
  /// Starts the next read, unless one is under way, nothing is new, or the client takes no more.
  mutating func pump(_ number: UInt32, _ effects: inout [ServerConnectionEffect]) {
    guard hasRoom, let session = sessions[number], !session.isReading, session.credit.bytes > 0 else { return }
    let limit = min(configuration.pageBytes, Int(clamping: session.credit.bytes))
    switch session.state {
    case .binding: return
    case .fetching(let fetch):
      effects.append(
        .readObjects(session.key, session.place.path, changedAfter: fetch.start, behind: fetch.last, limitBytes: limit))
    case .live:
      guard session.hasNews else { return }
      // Reset before the read: an entry that arrives during the read counts as news again.
      sessions[number]?.hasNews = false
      effects.append(.readEntries(session.key, session.place, after: session.cursor, limitBytes: limit))
    }
    sessions[number]?.isReading = true
  }

  /// Continues reading once the client takes more.
  mutating func room(_ isThere: Bool, _ effects: inout [ServerConnectionEffect]) {
    hasRoom = isThere
    guard isThere else { return }
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
      session.cursor = max(session.cursor, page.cursor)
      if page.cursor < page.head { session.hasNews = true }
      sessions[key.session] = session
      var bytes = 0
      for entries in messages(of: page.entries) {
        bytes += sendCharged(.changes(session: key.session, entries), key.session, &effects)
      }
      tellProgress(page, bytes, key.session, &effects)
      tellMarks(key.session, &effects)
      pump(key.session, &effects)
    }
  }

  /// A page never splits a transaction, which may be larger than a message: it then goes in several, which the client joins.
  private func messages(of entries: [LogEntry]) -> [[LogEntry]] {
    guard entries.contains(where: \.isContinued) else { return entries.isEmpty ? [] : [entries] }
    var all: [[LogEntry]] = []
    var bytes = 0
    for entry in entries {
      let size = entry.encodedCount
      if bytes == 0 || bytes + size > configuration.limits.messageBytes / 2 {
        all.append([])
        bytes = 0
      }
      all[all.count - 1].append(entry)
      bytes += size
    }
    return all
  }

  mutating func objects(
    _ key: SessionKey, _ result: Result<StatePage, ServerStoreError>, _ effects: inout [ServerConnectionEffect]
  ) {
    guard var session = sessions[key.session], session.key == key, case .fetching(var fetch) = session.state else { return }
    session.isReading = false
    switch result {
    case .failure(let error): return fault(key.session, SyncRefusal(reading: error), &effects)
    case .success(var page):
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
    guard let session = sessions[number], session.state == .live else { return }
    sessions[number]?.marks.removeAll { $0.head <= session.cursor }
    for mark in session.marks where mark.head <= session.cursor { send(.marked(session: number, number: mark.number), &effects) }
  }
}

extension LogEntry {
  /// Whether the next entry belongs to the same transaction.
  fileprivate var isContinued: Bool { if case .changeset(_, let changeset) = body { changeset.isContinued } else { false } }

  /// The approximate size in bytes.
  fileprivate var encodedCount: Int { if case .changeset(_, let changeset) = body { 32 + changeset.encoded().count } else { 64 } }
}
