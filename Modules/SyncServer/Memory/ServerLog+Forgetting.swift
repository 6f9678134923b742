import SyncModel

extension ServerLog {
  package mutating func purge(expiry: Int64) -> Purge? {
    guard var stable = expire(before: expiry) else { return nil }
    for entry in log.dropFirst(Int(max(heldFrom, base).rawValue - base.rawValue)) { entry.holdBack(&stable) }
    guard stable > purged.stable else { return nil }
    note(stable)
    let before = state
    let forgotten = Merge.purge(purged, in: &state)
    keep(forgotten.keys.sorted().map { ObjectBefore($0, Merge.objectState(of: $0, in: before)) })
    for object in before.records.keys where Merge.objectState(of: object, in: before) != Merge.objectState(of: object, in: state) {
      touched.objects.insert(object)
      if state.record(of: object) == nil { noteEnd(of: object) }
    }
    return purged
  }

  /// Notes that the state has nothing of an object any more.
  mutating func noteEnd(of object: ObjectIdentity) {
    order.remove(object)
    checkpoint?.objects.remove(object)
  }

  /// Forgets replicas that were not seen since a time. Returns the entry up to which no operation to come can conflict; nil if that is
  /// unchanged. If only a part of the log is loaded, all replicas and handlers must be.
  ///
  /// The entries behind `heldFrom` come once more, to handlers: the caller has each of them hold the purge back (`Entry.holdBack`).
  package mutating func expire(before expiry: Int64) -> Seq? {
    // Handlers come back, however long their process was down: their cursors keep the log as well.
    for (id, replica) in replicas where replica.seenAt < expiry && !id.isHandler { forget(id) }
    // Without replicas, nothing can conflict. A handler acts on the store as of its cursor, and takes in what is before it from a
    // checkpoint on.
    let stable = min(replicas.values.map(\.pendingBase).min() ?? head, heldFrom)
    return stable > purged.stable ? stable : nil
  }

  /// Forgets a replica: it must come back as a new one.
  mutating func forget(_ id: ReplicaID) {
    set(nil, id)
    expired.insert(id)
    touched.expired.insert(id)
  }

  /// Appends a purge, which the caller applies to the objects. The stamps of the entries up to `stable` must be loaded.
  package mutating func note(_ stable: Seq) {
    let covered = stamps.prefix { $0.seq <= stable }
    let floor = covered.map(\.stamp).max() ?? .zero
    stamps.removeFirst(covered.count)
    purged = Purge(stable: stable, floor: max(purged.floor, floor))
    beginCheckpointIfDue()
    append(.purge(purged), bytes: 32)
  }

  /// Keeps with a purge, the last entry, how the objects were whose epochs it has forgotten: a handler that begins before it has to know
  /// which incarnations links lead to.
  package mutating func keep(_ forgotten: [ObjectBefore]) {
    if keepsBefore { log[log.count - 1].before = forgotten }
  }

  package mutating func truncate(through seq: Seq) {
    var last = removable(through: seq)
    // The remaining log must begin with a whole transaction.
    while last > logStart, case .changeset(let changeset, _) = log[Int(last.rawValue - logStart.rawValue) - 1].body,
      changeset.isContinued
    {
      last = Seq(last.rawValue - 1)
    }
    guard last > logStart else { return }
    log.removeFirst(Int(last.rawValue - logStart.rawValue))
    (logStart, base) = (last, last)
  }

  /// The last entry that may be removed, at most the given one: handlers need the rest.
  package func removable(through seq: Seq) -> Seq { min(seq, heldFrom, head) }
}

extension ServerLog.Entry {
  /// Lowers the entry up to which a purge may forget, to what the author had integrated. For the entries that some handler has not passed.
  ///
  /// A handler that begins before the purge gets the store without what that forgets, and then this entry. It must not be decided by
  /// anything that its author had not seen: what it lost against would not be there any more.
  package func holdBack(_ stable: inout Seq) {
    if case .changeset(let changeset, _) = body { stable = min(stable, changeset.baseSeq) }
  }
}
