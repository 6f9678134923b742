import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol
import Vivarium

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
    try StagedPages.remove(sides)
  }

  /// Discards the pending changesets. Their effects stay visible until the server's objects replace them.
  package mutating func discardWaiting() throws(StorageError) {
    var report = report ?? RecoveryReport()
    for waiting in try Outbox.pending(sides).all {
      try Outbox.remove(waiting.changeset.clientSeq, sides)
      if waiting.isVoid { continue }
      if !waiting.changeset.isContinued { report.dropped += 1 }
      report.objects.formUnion(try ids(of: waiting.changeset.objects))
    }
    self.report = report
  }

  /// Where objects are in the file; without those that are not.
  private func ids(of objects: Set<ObjectIdentity>) throws(StorageError) -> Set<ObjectID> {
    var ids: Set<ObjectID> = []
    for object in objects {
      guard let place = try integrator.names.place(of: object) else { continue }
      ids.insert(ObjectID(type: object.className.text, key: place.key))
    }
    return ids
  }

  /// Stores the identities of objects created by the old replica, so that they keep them.
  private func keepNames(as replica: ReplicaID) throws(StorageError) {
    let names = ObjectNames(sides, own: replica)
    for object in try state.knownObjects() {
      guard case .created(standing.replica, _) = object.key, let place = try integrator.names.place(of: object) else { continue }
      try names.note(object, at: place)
    }
  }

  /// Redoes the pending changes on top of all objects of the server (`Recovery`), which are to be taken under what it returns.
  ///
  /// Of the objects, those that the changes name are in memory meanwhile.
  ///
  /// - Parameter missing: gets the objects that the changes make.
  mutating func recover(
    over walk: PageWalk, _ asOf: Seq, _ last: StatePage, _ bound: Bound, _ missing: inout Set<ObjectIdentity>, wall: Int64
  ) throws(StorageError) -> PendingChangesets {
    let unjudged = try takeUnjudged(bound)
    let (waiting, known) = try unknown(unjudged, in: walk)
    var server = known
    server.setFloor(last.floor)
    let renamed = try rename(createdBy: waiting, &missing)
    rewindClock(waiting, last.latest)
    standing.clientSeq = bound.judged
    var (recovery, report) = (
      Recovery(as: standing.replica, elements: standing.elements, renamed: renamed), self.report ?? RecoveryReport()
    )
    var pending = PendingChangesets()
    var rest = waiting[...]
    while !rest.isEmpty {
      let count = (rest.firstIndex { !$0.isContinued } ?? rest.endIndex - 1) - rest.startIndex + 1
      let again = try recovery.redo(Array(rest.prefix(count)), in: &server) { () throws(StorageError) in
        do throws(ClockError) { return try standing.clock.next(wall: wall) } catch { throw StorageError(error) }
      }
      rest = rest.dropFirst(count)
      guard let redone = again.redone else {
        if again.loses { report.dropped += 1 }
        continue
      }
      report.recovered += 1
      for changeset in try Outbox.put(redone.operations, first: redone.first, base: asOf, schemaHash: 0, &standing, sides) {
        pending.append(changeset)
        missing.formUnion(changeset.objects)
      }
    }
    standing.elements = recovery.elements
    report.objects.formUnion(try ids(of: Set(recovery.lost.map { renamed[$0] ?? $0 })))
    report.isAsNewReplica = standing.isRenamed
    self.report = report
    standing.settle()
    return pending
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

  /// The pending changesets that the server has not judged, removed from the outbox.
  private func takeUnjudged(_ bound: Bound) throws(StorageError) -> [Changeset] {
    var pending = try Outbox.pending(sides)
    for waiting in pending.all { try Outbox.remove(waiting.changeset.clientSeq, sides) }
    pending.refuse(Set(bound.refused))
    if pending.all.first?.changeset.author == standing.replica { pending.settle(upTo: bound.judged) }
    return pending.all.filter { !$0.isVoid }.map(\.changeset)
  }

  /// Those of some changesets that the server does not have yet, and what it has of all objects that they name.
  private func unknown(_ all: [Changeset], in walk: PageWalk) throws(StorageError) -> ([Changeset], MemoryState) {
    var server = MemoryState()
    guard let author = all.first?.author else { return ([], server) }
    // Made as another replica, some may have been sent from another file.
    var known: KnownChanges? = author == standing.replica ? nil : KnownChanges(of: author)
    let named = all.reduce(into: Set<ObjectIdentity>()) { $0.formUnion($1.namedObjects) }
    for number in 0..<walk.count {
      for object in try walk.page(number).objects {
        known?.note(object.state)
        if named.contains(object.identity) { Merge.replace(object.identity, with: object.state, in: &server) }
      }
    }
    return (known.map { Array($0.rest(of: all)) } ?? all, server)
  }

  /// Renames objects without a primary key that another replica's pending changes created, so that they belong to this replica: the other
  /// one may have given their identities to other objects by now.
  private mutating func rename(
    createdBy waiting: [Changeset], _ missing: inout Set<ObjectIdentity>
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
      missing.insert(new)
    }
    return renamed
  }
}
