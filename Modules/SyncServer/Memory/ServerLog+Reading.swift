import SyncModel
import SyncProtocol

extension ServerLog {
  package func changes(for id: ReplicaID, after seq: Seq, limitBytes: Int) throws(ServerStoreError) -> LogPage {
    try checkStart(seq)
    var pager = LogPager(for: id, of: self, after: seq, limitBytes: limitBytes)
    for index in Int(min(seq, head).rawValue - base.rawValue)..<log.count {
      guard pager.take(log[index], Seq(base.rawValue + UInt64(index) + 1)) else { break }
    }
    return pager.page
  }

  /// Throws if the store is not the one with a history, and one was given.
  package func check(_ history: [UInt8]?) throws(ServerStoreError) {
    guard let history, history != self.history else { return }
    throw ServerStoreError(.historyChanged, "The store was restored, or removed and made anew.")
  }

  /// Throws if the entries after the given one are gone.
  package func checkStart(_ seq: Seq) throws(ServerStoreError) {
    guard seq < logStart else { return }
    throw ServerStoreError(.logTruncated, "The log begins behind entry \(logStart), and what follows \(seq) was asked for.")
  }

  package func objects(
    of history: [UInt8]? = nil, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) throws(ServerStoreError) -> StatePage {
    try check(history)
    var page = StatePage(asOf: head, stable: purged.stable, floor: state.floor, latest: latest, objects: [], next: [], isLast: true)
    var bytes = 0
    order.forEach(behind: last) { object in
      guard let record = state.record(of: object), record.lastSeq > seq || seq == .zero,
        let state = Merge.objectState(of: object, in: state)
      else { return true }
      let count = 32 + state.encoded().count
      if bytes > 0, bytes + count > limitBytes {
        page.isLast = false
        return false
      }
      page.objects.append(StatePage.Object(object, state))
      bytes += count
      return true
    }
    return page
  }
}

/// Collects a page of the log for one replica.
package struct LogPager {
  package private(set) var page: LogPage
  private let replica: ReplicaID
  private let limitBytes: Int
  private var bytes = 0
  private var isInside = false

  package init(for replica: ReplicaID, of log: ServerLog, after seq: Seq, limitBytes: Int) {
    page = LogPage(entries: [], cursor: min(seq, log.head), head: log.head, history: log.history)
    (self.replica, self.limitBytes) = (replica, limitBytes)
  }

  /// Adds the next entry; returns false if the page is full without it.
  package mutating func take(_ entry: ServerLog.Entry, _ seq: Seq) -> Bool {
    // A page never splits a transaction.
    if bytes > 0, bytes + entry.bytes > limitBytes, !isInside { return false }
    isInside = entry.isContinued
    if let body = entry.shown(to: replica) {
      page.entries.append(LogEntry(seq, body))
      bytes += entry.bytes
    }
    page.cursor = seq
    return true
  }
}

extension ServerLog.Entry {
  /// Whether the next entry belongs to the same transaction.
  package var isContinued: Bool {
    if case .changeset(let changeset, _) = body { changeset.isContinued } else { false }
  }

  /// The entry with its bytes, for one that is sent to many.
  package func keepingEncoded() -> ServerLog.Entry {
    guard case .changeset(let changeset, let user) = body else { return self }
    var copy = self
    copy.body = .changeset(changeset.keepingEncoded(), user: user)
    return copy
  }

  /// The entry in the form for one replica; nil if it does not concern the replica.
  func shown(to id: ReplicaID) -> LogEntry.Body? {
    switch body {
    case .changeset(let changeset, let user):
      changeset.author == id ? .own(clientSeq: changeset.clientSeq) : .changeset(author: user, changeset)
    case .refusal(let author, let refusal, let code, let text):
      author == id ? .refusal(clientSeq: refusal.clientSeq, code: code, text: text, states: refusal.states) : nil
    case .purge(let purge): .purge(purge)
    }
  }
}
