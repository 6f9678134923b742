import SyncModel
import SyncProtocol

extension StoreLog {
  package mutating func claim(_ name: String, fromStart: Bool, until end: Int64, at time: Int64) -> HandlerLease? {
    var handler = handlers[name] ?? Handler(cursor: fromStart ? logStart : head)
    guard handler.leaseEnd <= time else { return nil }
    handler.fence += 1
    handler.leaseEnd = end
    handlers[name] = handler
    touched.handlers = true
    return HandlerLease(handler: name, cursor: handler.cursor, fence: handler.fence)
  }

  package mutating func advance(
    _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) throws(ServerStoreError) -> [Seq] {
    guard var handler = handlers[lease.handler], handler.fence == lease.fence, handler.leaseEnd > time else {
      throw ServerStoreError(.leaseLost, "The handler '\(lease.handler)' is another holder's by now, or nobody's.")
    }
    guard cursor >= handler.cursor, cursor <= head else {
      throw ServerStoreError(.leaseLost, "The handler '\(lease.handler)' is at \(handler.cursor) and cannot go to \(cursor).")
    }
    handler.author = handler.author ?? changesets.first?.author
    // Until all of it is known to be taken in, nothing is.
    var trial = self
    let seqs = try trial.write(changesets, of: lease.handler, as: handler.author, at: time)
    // What it does from now on it does having dealt with all up to here.
    if let author = handler.author, var replica = trial.replicas[author] {
      replica.pendingBase = cursor
      trial.set(replica, author)
    }
    handler.cursor = cursor
    trial.handlers[lease.handler] = handler
    trial.touched.handlers = true
    self = trial
    return seqs
  }

  private mutating func write(
    _ changesets: [Changeset], of name: String, as author: ReplicaID?, at time: Int64
  ) throws(ServerStoreError) -> [Seq] {
    guard let author, !changesets.isEmpty else { return [] }
    func refused(_ why: String) -> ServerStoreError {
      ServerStoreError(.writesRefused, "What the handler '\(name)' wrote is not taken in: \(why).")
    }
    guard author.isHandler else { throw refused("it is signed by \(author), which is no handler's replica") }
    set(replicas[author] ?? Replica(secret: [], user: name, seenAt: time), author)
    guard replicas[author]?.user == name else { throw refused("\(author) is another handler's replica") }
    // A handler reads the log itself: it has seen what was refused, and holds nothing back.
    var seqs: [Seq] = []
    for outcome in try commit(author, changesets.map { .changeset($0) }, refusalSeen: head, at: time, judge: { _ in nil }) {
      guard case .accepted(let seq) = outcome else { throw refused("\(outcome)") }
      seqs.append(seq)
    }
    return seqs
  }
}
