import SyncModel

extension StoreLog {
  package mutating func purge(expiry: Int64) -> Purge? {
    // Handlers come back, however long their process was down: their cursors keep the log as well.
    for (id, replica) in replicas where replica.seenAt < expiry && !id.isHandler {
      set(nil, id)
      expired.insert(id)
      touched.expired.insert(id)
    }
    // Where nobody is, nobody can act against anything.
    let stable = replicas.values.map(\.pendingBase).min() ?? head
    guard stable > purged.stable else { return nil }
    let covered = stamps.prefix { $0.seq <= stable }
    let floor = covered.map(\.stamp).max() ?? .zero
    stamps.removeFirst(covered.count)
    purged = Purge(stable: stable, floor: max(purged.floor, floor))
    let before = state
    Merge.purge(purged, in: &state)
    for object in before.records.keys where Merge.objectState(of: object, in: before) != Merge.objectState(of: object, in: state) {
      touched.objects.insert(object)
    }
    append(.purge(purged), bytes: 32)
    return purged
  }

  package mutating func truncate(through seq: Seq) {
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
}
