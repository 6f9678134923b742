import SyncModel

extension StoreLog {
  mutating func purge(expiry: Int64) -> Purge? {
    for (id, replica) in replicas where replica.seenAt < expiry {
      replicas[id] = nil
      expired.insert(id)
    }
    // Where nobody is, nobody can act against anything.
    let stable = replicas.values.map(\.pendingBase).min() ?? head
    guard stable > purged.stable else { return nil }
    let covered = stamps.prefix { $0.seq <= stable }
    let floor = covered.map(\.stamp).max() ?? .zero
    stamps.removeFirst(covered.count)
    purged = Purge(stable: stable, floor: max(purged.floor, floor))
    Merge.purge(purged, in: &state)
    append(.purge(purged), bytes: 32)
    return purged
  }

  mutating func truncate(through seq: Seq) {
    let needed = handlers.values.map(\.cursor).min() ?? head
    var last = min(seq, needed, head)
    // What is left begins with a whole transaction.
    while last > logStart, case .changeset(let changeset, _) = log[Int(last.rawValue - logStart.rawValue) - 1].body,
      changeset.isContinued
    {
      last = Seq(last.rawValue - 1)
    }
    guard last > logStart else { return }
    log.removeFirst(Int(last.rawValue - logStart.rawValue))
    logStart = last
  }

  mutating func claim(_ name: String, fromStart: Bool, until end: Int64, at time: Int64) -> HandlerLease? {
    var handler = handlers[name] ?? Handler(cursor: fromStart ? logStart : head)
    guard handler.leaseEnd <= time else { return nil }
    handler.fence += 1
    handler.leaseEnd = end
    handlers[name] = handler
    return HandlerLease(handler: name, cursor: handler.cursor, fence: handler.fence)
  }

  mutating func advance(
    _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) throws(ServerStoreError) -> [UploadOutcome] {
    guard var handler = handlers[lease.handler], handler.fence == lease.fence, handler.leaseEnd > time else {
      throw ServerStoreError(.leaseLost, "The handler '\(lease.handler)' is another holder's by now, or nobody's.")
    }
    guard cursor >= handler.cursor, cursor <= head else {
      throw ServerStoreError(.leaseLost, "The handler '\(lease.handler)' is at \(handler.cursor) and cannot go to \(cursor).")
    }
    var outcomes: [UploadOutcome] = []
    if let author = changesets.first?.author {
      if replicas[author] == nil { replicas[author] = Replica(secret: [], user: lease.handler, seenAt: time) }
      // A handler reads the log itself, so it has seen what was refused of it, and holds nothing back.
      outcomes = try commit(author, changesets.map { .changeset($0) }, refusalSeen: head, at: time) { _ in nil }
      replicas[author]?.pendingBase = cursor
      replicas[author]?.cursor = cursor
    }
    handler.cursor = cursor
    handlers[lease.handler] = handler
    return outcomes
  }
}
