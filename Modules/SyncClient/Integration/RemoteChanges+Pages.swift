import StorageInterface
import SyncModel
import SyncProtocol

// Objects in place of entries: those of a delta, or all.

extension RemoteChanges {
  /// The pages of a walk.
  ///
  /// - Parameters:
  ///   - staged: how many the file has on its disk.
  ///   - fresh: those that follow, up to the last.
  /// - Throws: `.stagedPagesDamaged` unless it has as many, of the same walk.
  func walk(behind staged: Int, _ fresh: [StatePage], _ bound: Bound) throws(StorageError) -> PageWalk {
    guard staged > 0 else { return PageWalk(staged: nil, fresh: fresh, sides: sides) }
    guard let known = try StagedPages.read(sides, standing, cursor: cursor), known.count == staged, known.begun.mode == bound.mode,
      known.begun.history == bound.history, known.begun.judged == bound.judged
    else { throw .stagedPages("they are not the \(staged) that were counted") }
    return PageWalk(staged: known, fresh: fresh, sides: sides)
  }

  /// Whether the file has a later entry of the same history than some pages: somebody else has replicated it since they were asked for.
  func isAhead(of walk: PageWalk, _ bound: Bound) -> Bool {
    guard !standing.isAnew, standing.history == bound.history, let asOf = walk.asOf else { return false }
    return cursor > asOf
  }

  /// Takes objects in place of entries: those of a delta, or all.
  ///
  /// - Parameters:
  ///   - bound: what the server has judged of this replica.
  ///   - isAll: whether an object that is in no page is deleted.
  ///   - wall: milliseconds since 1970, for stamping the changes that are redone after `beginAnew`.
  package mutating func take(_ pages: [StatePage], _ bound: Bound, isAll: Bool, wall: Int64) throws(StorageError) {
    try take(PageWalk(staged: nil, fresh: pages, sides: sides), bound, isAll: isAll, wall: wall)
  }

  /// The same. Of the pages on the disk one at a time is in memory, with its objects; all others are there together.
  mutating func take(_ walk: PageWalk, _ bound: Bound, isAll: Bool, wall: Int64) throws(StorageError) {
    guard let asOf = walk.asOf, let last = walk.fresh.last else { return }
    // The known objects, until they are found in a page.
    var missing: Set<ObjectIdentity> = []
    if isAll { missing = Set(try state.knownObjects()) }
    standing.refusalSeen = max(standing.refusalSeen, bound.refusal)
    // The purge comes first, while the own records still tell which incarnations links lead to; the server's no longer do.
    if isAll {
      // Another history may have forgotten less.
      try state.setFloor(standing.isAnew ? last.floor : max(state.floor, last.floor))
    } else {
      try forget(Purge(stable: last.stable, floor: last.floor))
    }
    if standing.isAnew, isAll {
      let pending = try recover(over: walk, asOf, last, bound, &missing, wall: wall)
      try show(walk, missing, under: pending)
    } else {
      let before = try Outbox.pending(sides)
      var after = before
      after.refuse(Set(bound.refused))
      after.settle(upTo: bound.judged)
      try show(walk, missing, under: after)
      try Outbox.update(from: before, to: after, sides)
    }
    // Everything done from now on is stamped later.
    standing.clock.receive(last.latest)
    cursor = asOf
  }

  /// Replaces the own states by those of the pages, and shows the difference.
  ///
  /// - Parameter missing: objects of which some may be in no page. Those are gone.
  private mutating func show(
    _ walk: PageWalk, _ missing: Set<ObjectIdentity>, under pending: PendingChangesets
  ) throws(StorageError) {
    var missing = missing
    let changed = pending.all.reduce(into: Set<ObjectIdentity>()) { $0.formUnion($1.changeset.objects) }
    for number in 0..<walk.stagedCount {
      var states: [ObjectIdentity: ObjectState?] = [:]
      var isChanged = false
      for object in try walk.page(number).objects {
        states.updateValue(object.state, forKey: object.identity)
        isChanged = isChanged || changed.contains(object.identity)
        missing.remove(object.identity)
      }
      // Links to what comes in a later page are hidden until then, as where entries bring the target late.
      try integrator.take(states, under: isChanged ? pending : PendingChangesets())
      try state.letGo()
    }
    var states: [ObjectIdentity: ObjectState?] = [:]
    for object in missing { states.updateValue(nil, forKey: object) }
    for page in walk.fresh { for object in page.objects { states.updateValue(object.state, forKey: object.identity) } }
    try integrator.take(states, under: pending)
  }
}
