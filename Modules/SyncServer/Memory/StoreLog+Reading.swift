import SyncModel
import SyncProtocol

extension StoreLog {
  package func changes(for id: ReplicaID, after seq: Seq, limitBytes: Int) throws(ServerStoreError) -> LogPage {
    guard seq >= logStart else {
      throw ServerStoreError(.logTruncated, "The log begins behind entry \(logStart), and what follows \(seq) was asked for.")
    }
    var page = LogPage(entries: [], cursor: min(seq, head), head: head)
    var bytes = 0
    var isInside = false
    for index in Int(min(seq, head).rawValue - logStart.rawValue)..<log.count {
      // A transaction is shown whole.
      if bytes > 0, bytes + log[index].bytes > limitBytes, !isInside { break }
      let seq = Seq(logStart.rawValue + UInt64(index) + 1)
      isInside = false
      if case .changeset(let changeset, _) = log[index].body { isInside = changeset.isContinued }
      if let body = log[index].shown(to: id) {
        page.entries.append(LogEntry(seq, body))
        bytes += log[index].bytes
      }
      page.cursor = seq
    }
    return page
  }

  package func objects(changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int) -> StatePage {
    var page = StatePage(asOf: head, stable: purged.stable, floor: state.floor, latest: latest, objects: [], next: [], isLast: true)
    var bytes = 0
    let wanted = state.records.filter { $0.value.lastSeq > seq || seq == .zero }.keys.filter { object in last.map { $0 < object } ?? true }
    for object in wanted.sorted() {
      guard let state = Merge.objectState(of: object, in: state) else { continue }
      let count = 32 + state.encoded().count
      if bytes > 0, bytes + count > limitBytes {
        page.isLast = false
        break
      }
      page.objects.append(StatePage.Object(object, state))
      bytes += count
    }
    return page
  }
}

extension StoreLog.Entry {
  /// As a replica is shown it; nil where it is none of its business.
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
