import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// The possible notification of an object's or collection's observer in a turn.
package struct WatchOffer: Sendable {
  package enum Content: Sendable {
    /// The first call for a list.
    case initial
    /// The properties that were set, those that lead to changes, and the changes of lists, sets and maps.
    case touched(PropertySet, leading: PropertySet, [PropertyID: ElementsOffer])
    /// The object was deleted. The last call; for a collection with the resulting deletions.
    case deleted(ElementsOffer?)
    case failed(StorageError)
  }

  /// The changes of one collection, by position and, for a set or map, by member.
  package struct ElementsOffer: Sendable {
    package let positions: ChangeSet
    package let members: ChangedMembers
    /// The keys of a map that skipped commits inserted (true) or removed (false) since the previous call.
    package let skippedKeys: [Value: Bool]

    package init(
      positions: ChangeSet = ChangeSet(), members: ChangedMembers = ChangedMembers(), skippedKeys: [Value: Bool] = [:]
    ) {
      (self.positions, self.members, self.skippedKeys) = (positions, members, skippedKeys)
    }
  }

  package let content: Content
  package var isFailure: Bool { if case .failed = content { true } else { false } }
  package let watch: ObjectWatch
  /// The versions of the previous call and of this one.
  package let from: Version
  package let to: Version
  /// Values of the object that the observer already knows: reported changes start from them.
  package let known: [PropertyID: Value]
  /// The authors of the reported changes, as far as the commits are known.
  package let sources: CommitSources
  fileprivate let serial: UInt64

  /// Accepts the offer, right before the observer compares and is notified. False if a later one was accepted first, or the
  /// token was stopped.
  package func accept() -> Bool { watch.accept(self) }
}

extension ObjectWatch {
  /// The pending offer at a version; nil if there is none.
  func offer(at version: Version, _ reading: any StorageReading) throws(StorageError) -> WatchOffer? {
    let pending = state.withLock { $0.pending }
    let lives = try reading.contains(table, key)
    let elements = try elements(of: pending, reading, lives: lives)
    var lists: [PropertyID: NetListChanges] = [:]
    var members: [PropertyID: NetMemberChanges] = [:]
    for property in pending.lists.keys {
      lists[property] = NetListChanges(count: lives ? try reading.elementCount(ColumnID(table, property), key) : 0)
    }
    for (property, changes) in pending.members {
      members[property] = changes.fresh(count: lives ? try reading.elementCount(ColumnID(table, property), key) : 0)
    }
    var fresh = Marks()
    (fresh.lists, fresh.members) = (lists, members)
    return state.withLock { [fresh] state in
      let content: WatchOffer.Content
      if state.pending.isDeleted, !state.awaitsFirst {
        content = .deleted(elements.values.first)
      } else if state.awaitsFirst {
        content = .initial
      } else if state.pending.isEmpty {
        return nil
      } else {
        content = .touched(state.pending.properties, leading: state.pending.leading, elements)
      }
      state.serial += 1
      state.offeredVersion = version
      state.fresh = fresh
      // A list whose owner was deleted before the first call still gets its last one.
      state.fresh?.isDeleted = state.awaitsFirst && state.pending.isDeleted
      return WatchOffer(
        content: content, watch: self, from: state.notifiedVersion, to: version, known: state.pending.known,
        sources: state.pending.sources, serial: state.serial)
    }
  }

  /// The final offer, with the error; nil if there is none.
  func failureOffer(at version: Version) -> WatchOffer? {
    state.withLock { state in
      guard let failure = state.failure else { return nil }
      state.serial += 1
      return WatchOffer(
        content: .failed(failure), watch: self, from: state.notifiedVersion, to: version, known: [:],
        sources: CommitSources(), serial: state.serial)
    }
  }

  /// The object that replaced the deleted one with the same primary key, if there is one.
  func successor(_ reading: any StorageReading) throws(StorageError) -> ObjectKey? {
    guard let identity, state.withLock({ $0.pending.isDeleted && !$0.awaitsFirst }), try !reading.contains(table, key)
    else { return nil }
    return try reading.key(in: identity.index, equal: [identity.value])
  }

  /// Observes the successor, which may differ in everything.
  func succeed(_ successor: ObjectKey) {
    follow(successor)
    noteEverything()
    state.withLock { $0.pending.isDeleted = false }
  }

  /// The changes of the observed collections.
  private func elements(
    of pending: Marks, _ reading: any StorageReading, lives: Bool
  ) throws(StorageError) -> [PropertyID: WatchOffer.ElementsOffer] {
    var elements: [PropertyID: WatchOffer.ElementsOffer] = [:]
    for (property, changes) in pending.lists {
      let now = lives ? try reading.elementCount(ColumnID(table, property), key) : 0
      let isLost = (pending.isLost && lives) || !changes.canLead(to: now)
      elements[property] = .init(positions: changes.changeSet(replacedBy: isLost ? now : nil))
    }
    for (property, changes) in pending.members {
      let found = try changes.changeSet(of: ColumnID(table, property), key, in: lives ? reading : nil)
      elements[property] = .init(positions: found.positions, members: found.members, skippedKeys: changes.skippedKeys)
    }
    return elements
  }

  fileprivate func accept(_ offer: WatchOffer) -> Bool {
    switch offer.content {
    case .failed, .deleted: return end()
    case .initial, .touched: break
    }
    if isEnded { return false }
    return state.withLock { state in
      guard state.serial == offer.serial, let fresh = state.fresh else { return false }
      state.pending = fresh
      state.fresh = nil
      state.notifiedVersion = state.offeredVersion
      state.awaitsFirst = false
      return true
    }
  }

  /// Skips commits that were noted but of which the observer is not notified: it knows what they lead to. The changes pending
  /// before them (`waited`) are still reported, relative to what the observer knows then.
  func skip(_ records: [CommitRecord], _ waited: Waiting, knowing known: Known, at version: Version) {
    let changes = records.flatMap(\.tables).filter { $0.table == table }
    state.withLock { state in
      state.movedTo = version
      if waited.pending.isEmpty {
        state.forget(knowing: known, at: version)
      } else {
        // It may have been notified meanwhile.
        let pending = state.notifiedVersion == waited.notifiedVersion ? waited.pending : waited.fresh
        if let pending { state.pending.skip(changes, of: key, to: pending) }
        if let fresh = waited.fresh { state.fresh?.skip(changes, of: key, to: fresh) }
      }
      state.pending.learn(known.values, changes, of: key)
      state.fresh?.learn(known.values, changes, of: key)
    }
  }

  /// The newest version that a commit which skipped the observer led to, if that is not known to have been followed yet, and is not
  /// beyond `version`. It is followed from now on.
  package func takeMove(upTo version: Version) -> Version? {
    state.withLock { state in
      guard let moved = state.movedTo, moved <= version else { return nil }
      state.movedTo = nil
      return moved
    }
  }

  /// What the observer of skipped commits knows of their result.
  struct Known: Sendable {
    /// The values of observed scalars that they set.
    var values: [PropertyID: Value] = [:]
    /// How many elements each observed collection has.
    var counts: [PropertyID: Int] = [:]
  }

  /// The pending changes at one moment.
  struct Waiting: Sendable {
    var pending = Marks()
    var fresh: Marks?
    var notifiedVersion = Version(0)
  }

  var waiting: Waiting {
    state.withLock { Waiting(pending: $0.pending, fresh: $0.fresh, notifiedVersion: $0.notifiedVersion) }
  }

  /// What commits led to. Read before anybody else can commit. O(log n) for each observed collection and value.
  func known(setBy records: [CommitRecord], in reading: any StorageReading) throws(StorageError) -> Known {
    guard try reading.contains(table, key) else { return Known() }
    var known = Known(values: try values(setBy: records, in: reading))
    let collections = state.withLock { Array($0.pending.lists.keys) + Array($0.pending.members.keys) }
    for property in collections { known.counts[property] = try reading.elementCount(ColumnID(table, property), key) }
    return known
  }

  private func values(setBy records: [CommitRecord], in reading: any StorageReading) throws(StorageError) -> [PropertyID: Value] {
    guard case .properties(let filter) = subject else { return [:] }
    var values: [PropertyID: Value] = [:]
    for change in records.flatMap(\.tables) where change.table == table {
      guard let modified = change.modifiedObject(key) else { continue }
      for property in modified.properties.properties where filter.properties.contains(property) {
        let column = ColumnID(table, property)
        guard reading.catalog[column]?.schema.isScalar == true else { continue }
        values[property] = try reading.value(column, key)
      }
    }
    return values
  }

  /// Whether there is something to report.
  package var isPending: Bool {
    state.withLock { $0.failure != nil || $0.awaitsFirst || !$0.pending.isEmpty }
  }

  /// The version up to which everything was noted.
  var version: Version { state.withLock { $0.version } }
}

extension ObjectWatch.State {
  /// Takes what is pending as known; a deletion, and the first call, are still to be told.
  fileprivate mutating func forget(knowing known: ObjectWatch.Known, at version: Version) {
    if awaitsFirst || pending.isDeleted || pending.isEmpty { return }
    var rest = ObjectWatch.Marks()
    for property in pending.lists.keys { rest.lists[property] = NetListChanges(count: known.counts[property] ?? 0) }
    for (property, changes) in pending.members { rest.members[property] = changes.known(count: known.counts[property] ?? 0) }
    // An offer that was made before has nothing to tell any more.
    serial += 1
    (pending, fresh) = (rest, nil)
    notifiedVersion = version
  }
}

extension ObjectWatch.Marks {
  /// Records what the observer knows of commits that skipped it.
  fileprivate mutating func learn(_ values: [PropertyID: Value], _ changes: [TableChange], of key: ObjectKey) {
    known.merge(values) { $1 }
    for change in changes.flatMap(\.collections) where change.owner == key {
      for member in change.members { members[change.property]?.learn(member) }
    }
  }

  /// Skips later commits that the observer knows, with the given changes, on top of its pending marks `waited`.
  fileprivate mutating func skip(_ changes: [TableChange], of key: ObjectKey, to waited: Self) {
    leading = waited.leading
    sources = waited.sources
    // A deleted object, or one with unknown changes, is reported as a whole.
    if isDeleted || isLost { return }
    for (property, list) in waited.lists {
      let edits = changes.flatMap(\.lists).filter { $0.owner == key && $0.property == property }
      lists[property] = list.skipping(edits.flatMap(\.edits))
    }
    for (property, known) in waited.members {
      var known = known
      for change in changes.flatMap(\.collections) where change.owner == key && change.property == property {
        for member in change.members { known.skip(member) }
      }
      members[property] = known
    }
  }
}
