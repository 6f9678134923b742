import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol

// Beginning anew: the server has another history, its clock was wrong, or another file is the same replica.

extension RemoteChanges {
  /// Makes the file begin anew: with the next connection it takes all objects from the server. Until then it shows what it has, and can
  /// be written.
  ///
  /// - Parameter replica: the file's new replica, if its old id belongs to another file or is used up; nil keeps the id.
  package mutating func beginAnew(as replica: ReplicaID? = nil) throws(StorageError) {
    if let replica {
      try keepNames(as: replica)
      standing = standing.renamed(replica)
    }
    (standing.history, standing.refusalSeen, standing.isAnew) = ([], .zero, true)
    cursor = .zero
  }

  /// Discards the pending changesets. Their effects stay visible until the server's objects replace them.
  package mutating func discardWaiting() throws(StorageError) {
    for waiting in try Outbox.pending(sides).all { try Outbox.remove(waiting.changeset.clientSeq, sides) }
  }

  /// Stores the identities of objects created by the old replica, so that they keep them.
  private func keepNames(as replica: ReplicaID) throws(StorageError) {
    let names = ObjectNames(sides, own: replica)
    for object in try state.knownObjects() {
      guard case .created(standing.replica, _) = object.key, let place = try integrator.names.place(of: object) else { continue }
      try names.note(object, at: place)
    }
  }

  /// Takes all objects, and redoes the pending changes on top of them (`Recovery`).
  mutating func recover(
    over states: inout [ObjectIdentity: ObjectState?], _ asOf: Seq, _ last: StatePage, _ bound: Bound, wall: Int64
  ) throws(StorageError) {
    let waiting = try waiting(states, bound)
    let renamed = try rename(createdBy: waiting, &states)
    var server = MemoryState()
    server.setFloor(last.floor)
    for case (let object, let state?) in states { Merge.replace(object, with: state, in: &server) }
    rewindClock(waiting, last.latest)
    standing.clientSeq = bound.judged
    var recovery = Recovery(as: standing.replica, elements: standing.elements, renamed: renamed)
    var pending = PendingChangesets()
    var rest = waiting[...]
    while !rest.isEmpty {
      let count = (rest.firstIndex { !$0.isContinued } ?? rest.endIndex - 1) - rest.startIndex + 1
      let again = try recovery.redo(Array(rest.prefix(count)), in: &server) { () throws(StorageError) in
        do throws(ClockError) { return try standing.clock.next(wall: wall) } catch { throw StorageError(error) }
      }
      rest = rest.dropFirst(count)
      guard let again else { continue }
      for changeset in try Outbox.put(again.operations, first: again.first, base: asOf, schemaHash: 0, &standing, sides) {
        pending.append(changeset)
        for object in changeset.objects where !states.keys.contains(object) { states.updateValue(nil, forKey: object) }
      }
    }
    standing.elements = recovery.elements
    standing.settle()
    try integrator.take(states, under: pending)
  }

  /// Resets the clock behind everything the server has, and behind the stamps that the pending changes name, such as those in list
  /// positions made by others. Their own stamps do not count, because a wrong clock may have made them.
  private mutating func rewindClock(_ waiting: [Changeset], _ latest: Stamp) {
    standing.clock.rewind()
    standing.clock.receive(latest)
    var own: Set<Stamp> = []
    for changeset in waiting { for index in changeset.operations.indices { own.insert(changeset.stamp(of: index)) } }
    for changeset in waiting { changeset.forEachNamedStamp { if !own.contains($0) { standing.clock.receive($0) } } }
  }

  /// The pending changesets that the server does not have yet, removed from the outbox.
  private func waiting(
    _ states: [ObjectIdentity: ObjectState?], _ bound: Bound
  ) throws(StorageError) -> [Changeset] {
    var pending = try Outbox.pending(sides)
    for waiting in pending.all { try Outbox.remove(waiting.changeset.clientSeq, sides) }
    pending.refuse(Set(bound.refused))
    if pending.all.first?.changeset.author == standing.replica { pending.settle(upTo: bound.judged) }
    let stands = pending.all.filter { !$0.isVoid }.map(\.changeset)
    guard let author = stands.first?.author, author != standing.replica else { return stands }
    // They were made as another replica, which may have sent some of them from another file.
    let known = KnownChanges(of: author, in: states.values.compactMap { $0 })
    return Array(known.rest(of: stands))
  }

  /// Renames objects without a primary key that another replica's pending changes created, so that they belong to this replica: the other
  /// one may have given their identities to other objects by now.
  private mutating func rename(
    createdBy waiting: [Changeset], _ states: inout [ObjectIdentity: ObjectState?]
  ) throws(StorageError) -> [ObjectIdentity: ObjectIdentity] {
    var renamed: [ObjectIdentity: ObjectIdentity] = [:]
    for operation in waiting.flatMap(\.operations) where operation.action == .create {
      let old = operation.object
      guard case .created(let replica, _) = old.key, replica != standing.replica, renamed[old] == nil,
        let place = try integrator.names.place(of: old)
      else { continue }
      let new = ObjectIdentity(old.className, .created(standing.replica, place.key))
      renamed[old] = new
      let shown = try Merge.objectState(of: old, in: state)
      try integrator.names.forget(old, at: place)
      var target = state
      try Merge.replace(new, with: shown, in: &target)
      try Merge.replace(old, with: nil, in: &target)
      states.updateValue(nil, forKey: new)
    }
    return renamed
  }
}
