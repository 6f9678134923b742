import SyncModel
import SyncProtocol

extension ServerLog {
  package mutating func claim(
    _ name: String, heldIn held: [UInt8]? = nil, fromStart: Bool, until end: Int64, at time: Int64
  ) throws(ServerStoreError) -> HandlerLease? {
    if handlers[name] == nil, held == history {
      throw ServerStoreError(.handlerRemoved, "The handler '\(name)' was removed while it was run.")
    }
    let isNew = handlers[name] == nil
    var handler = handlers[name] ?? Handler(cursor: fromStart ? logStart : head)
    guard handler.leaseEnd <= time else { return nil }
    handler.lease(until: end, at: time)
    handlers[name] = handler
    touched.handlers = true
    return HandlerLease(handler: name, cursor: handler.cursor, fence: handler.fence, history: history, isNew: isNew)
  }

  package mutating func advance(
    _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) throws(ServerStoreError) -> [Seq] {
    var handler = try holder(of: lease, at: time)
    guard cursor >= handler.cursor, cursor <= head else {
      throw ServerStoreError(.leaseLost, "The handler '\(lease.handler)' is at \(handler.cursor) and cannot go to \(cursor).")
    }
    // A repetition of a call whose answer was lost.
    if cursor == handler.cursor, isWritten(changesets, by: handler) { return [] }
    let seqs = try write(changesets, of: lease.handler, &handler, at: time)
    // Whatever the handler does from now on, it does knowing everything up to here.
    if let author = handler.author, var replica = replicas[author] {
      replica.pendingBase = cursor
      set(replica, author)
    }
    let passed = handler.cursor
    handler.cursor = cursor
    handlers[lease.handler] = handler
    touched.handlers = true
    forgetBefore(after: passed)
    return seqs
  }

  package mutating func renew(_ lease: HandlerLease, until end: Int64, at time: Int64) throws(ServerStoreError) {
    var handler = try holder(of: lease, at: time)
    handler.leaseEnd = end
    handlers[lease.handler] = handler
    touched.handlers = true
  }

  package mutating func removeHandler(_ name: String) {
    guard let handler = handlers.removeValue(forKey: name) else { return }
    if let author = handler.author, replicas[author] != nil { set(nil, author) }
    touched.handlers = true
    touched.removedHandlers.insert(name)
    forgetBefore(after: handler.cursor)
  }

  private func holder(of lease: HandlerLease, at time: Int64) throws(ServerStoreError) -> Handler {
    guard let handler = handlers[lease.handler], handler.fence == lease.fence, handler.leaseEnd > time else {
      throw ServerStoreError(.leaseLost, "The handler '\(lease.handler)' is another holder's by now, or nobody's.")
    }
    return handler
  }

  /// Whether changesets are the last transaction that a handler has written.
  private func isWritten(_ changesets: [Changeset], by handler: Handler) -> Bool {
    guard let last = changesets.last, last.author == handler.author, let replica = replicas[last.author] else { return false }
    return replica.gate.answered == last.clientSeq && replica.judgedStamp == last.first
  }

  /// Commits everything or nothing: it throws only before it changes anything.
  private mutating func write(
    _ changesets: [Changeset], of name: String, _ handler: inout Handler, at time: Int64
  ) throws(ServerStoreError) -> [Seq] {
    guard let author = changesets.first?.author else { return [] }
    func refused(_ why: String) -> ServerStoreError {
      ServerStoreError(.writesRefused, "What the handler '\(name)' wrote is not taken in: \(why).")
    }
    guard author.isHandler else { throw refused("it is signed by \(author), which is no handler's replica") }
    var replica = replicas[author] ?? Replica(secret: [], user: name, seenAt: time)
    guard replica.user == name else { throw refused("\(author) is another handler's replica") }
    for (offset, changeset) in changesets.enumerated() {
      guard changeset.clientSeq == replica.gate.answered &+ UInt64(offset) &+ 1 else {
        throw refused("change \(changeset.clientSeq) does not follow change \(replica.gate.answered)")
      }
      guard changeset.isContinued == (offset < changesets.count - 1) else { throw refused("it is not one transaction") }
      guard changeset.author == author, changeset.operations.allSatisfy(\.isWellFormed) else {
        throw refused("it is not what its author could have made")
      }
      if isSkewed(changeset, at: time) { throw refused("it is dated too far ahead") }
    }
    switch attempt(changesets, user: name, { _ in nil }) {
    case .refused(let verdict): throw refused(verdict.text)
    case .stands(let objects, let result):
      replica.seenAt = max(replica.seenAt, time)
      let seqs = adopt(objects, result, changesets, &replica)
      // A holder that begins with an empty memory is another replica, and the previous one writes nothing more.
      if let old = handler.author, old != author { set(nil, old) }
      handler.author = author
      set(replica, author)
      return seqs
    }
  }
}
