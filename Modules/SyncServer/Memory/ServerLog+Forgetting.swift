import SyncModel

extension ServerLog {
  package mutating func purge(expiry: Int64) -> Purge? {
    guard let stable = expire(before: expiry) else { return nil }
    note(stable)
    let before = state
    Merge.purge(purged, in: &state)
    for object in before.records.keys where Merge.objectState(of: object, in: before) != Merge.objectState(of: object, in: state) {
      touched.objects.insert(object)
      if state.record(of: object) == nil { order.remove(object) }
    }
    return purged
  }

  /// Forgets replicas that were not there since a time, and says up to where nobody can act against anything any more; nil where
  /// that is nothing new. Of a part of a log all replicas have to be there.
  package mutating func expire(before expiry: Int64) -> Seq? {
    // Handlers come back, however long their process was down: their cursors keep the log as well.
    for (id, replica) in replicas where replica.seenAt < expiry && !id.isHandler {
      set(nil, id)
      expired.insert(id)
      touched.expired.insert(id)
    }
    // Where nobody is, nobody can act against anything. A handler acts on the store as it was where its cursor is.
    let stable = min(replicas.values.map(\.pendingBase).min() ?? head, handlers.values.map(\.cursor).min() ?? head)
    return stable > purged.stable ? stable : nil
  }

  /// Appends a purge, which the caller applies to the objects. The stamps of the entries up to `stable` have to be there.
  package mutating func note(_ stable: Seq) {
    let covered = stamps.prefix { $0.seq <= stable }
    let floor = covered.map(\.stamp).max() ?? .zero
    stamps.removeFirst(covered.count)
    purged = Purge(stable: stable, floor: max(purged.floor, floor))
    append(.purge(purged), bytes: 32)
  }

  package mutating func truncate(through seq: Seq) {
    var last = removable(through: seq)
    // What is left begins with a whole transaction.
    while last > logStart, case .changeset(let changeset, _) = log[Int(last.rawValue - logStart.rawValue) - 1].body,
      changeset.isContinued
    {
      last = Seq(last.rawValue - 1)
    }
    guard last > logStart else { return }
    log.removeFirst(Int(last.rawValue - logStart.rawValue))
    (logStart, base) = (last, last)
  }

  /// Up to where entries may be removed, at most up to a number: handlers need the rest.
  package func removable(through seq: Seq) -> Seq { min(seq, handlers.values.map(\.cursor).min() ?? head, head) }
}
