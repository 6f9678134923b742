import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// What one object's or list's observer may have to be notified of in a turn.
package struct WatchOffer: Sendable {
  package enum Content: Sendable {
    /// A list is there for the first time.
    case initial
    /// These properties were set, these lead to something that was; and what happened to lists, sets and maps.
    case touched(PropertySet, leading: PropertySet, [PropertyID: ElementsOffer])
    /// The object is gone. The last call; for a collection with what that deleted.
    case deleted(ChangeSet)
    case failed(StorageError)
  }

  /// What happened to one collection, by position and, of a set or map, by member.
  package struct ElementsOffer: Sendable {
    package let positions: ChangeSet
    package let members: ChangedMembers
  }

  package let content: Content
  package var isFailure: Bool { if case .failed = content { true } else { false } }
  package let watch: ObjectWatch
  /// From the version of the last call to that of this one.
  package let from: Version
  package let to: Version
  /// Values of the object that the observer knows already: what is reported to it leads on from them.
  package let known: [PropertyID: Value]
  /// Who wrote what is reported, as far as the commits are known.
  package let sources: CommitSources
  fileprivate let serial: UInt64

  /// Takes the offer, right before the observer compares and is notified. False when a later one was taken first, or
  /// the token was stopped.
  package func accept() -> Bool { watch.accept(self) }
}

extension ObjectWatch {
  /// What is to be reported at a version in which the lists have so many elements.
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
        content = .deleted(elements.values.first?.positions ?? ChangeSet())
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
      // A list whose owner was gone before the first call still gets its last one.
      state.fresh?.isDeleted = state.awaitsFirst && state.pending.isDeleted
      return WatchOffer(
        content: content, watch: self, from: state.notifiedVersion, to: version, known: state.pending.known,
        sources: state.pending.sources, serial: state.serial)
    }
  }

  /// The last thing to be reported; nil while nothing failed.
  func failureOffer(at version: Version) -> WatchOffer? {
    state.withLock { state in
      guard let failure = state.failure else { return nil }
      state.serial += 1
      return WatchOffer(
        content: .failed(failure), watch: self, from: state.notifiedVersion, to: version, known: [:],
        sources: CommitSources(), serial: state.serial)
    }
  }

  /// The object that has taken the place of the one that was deleted, if there is one.
  func successor(_ reading: any StorageReading) throws(StorageError) -> ObjectKey? {
    guard let identity, state.withLock({ $0.pending.isDeleted && !$0.awaitsFirst }), try !reading.contains(table, key)
    else { return nil }
    return try reading.key(in: identity.index, equal: [identity.value])
  }

  /// Observes the successor: it may differ in everything.
  func succeed(_ successor: ObjectKey) {
    follow(successor)
    noteEverything()
    state.withLock { $0.pending.isDeleted = false }
  }

  /// What happened to the observed collections.
  private func elements(
    of pending: Marks, _ reading: any StorageReading, lives: Bool
  ) throws(StorageError) -> [PropertyID: WatchOffer.ElementsOffer] {
    var elements: [PropertyID: WatchOffer.ElementsOffer] = [:]
    for (property, changes) in pending.lists {
      let now = lives ? try reading.elementCount(ColumnID(table, property), key) : 0
      let isLost = (pending.isLost && lives) || !changes.canLead(to: now)
      elements[property] = .init(positions: changes.changeSet(replacedBy: isLost ? now : nil), members: ChangedMembers())
    }
    for (property, changes) in pending.members {
      let found = try changes.changeSet(of: ColumnID(table, property), key, in: lives ? reading : nil)
      elements[property] = .init(positions: found.positions, members: found.members)
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

  /// Commits were noted of which the observer is not notified: it knows what they did, and which `values` they set. What
  /// `waited` before them is reported as ever, and leads on from what the observer knows then.
  func skip(
    _ records: [CommitRecord], _ waited: Waiting, knowing values: [PropertyID: Value], _ reading: any StorageReading
  ) throws(StorageError) {
    if !waited.pending.isEmpty {
      let changes = records.flatMap(\.tables).filter { $0.table == table }
      state.withLock { state in
        // It may have been notified meanwhile.
        let pending = state.notifiedVersion == waited.notifiedVersion ? waited.pending : waited.fresh
        if let pending { state.pending.skip(changes, of: key, to: pending) }
        if let fresh = waited.fresh { state.fresh?.skip(changes, of: key, to: fresh) }
      }
    } else if let offer = try offer(at: reading.version, reading), case .touched = offer.content {
      _ = accept(offer)
    }
    state.withLock { state in
      state.pending.known.merge(values) { $1 }
      state.fresh?.known.merge(values) { $1 }
    }
  }

  /// What waits to be reported at a moment.
  struct Waiting: Sendable {
    var pending = Marks()
    var fresh: Marks?
    var notifiedVersion = Version(0)
  }

  var waiting: Waiting {
    state.withLock { Waiting(pending: $0.pending, fresh: $0.fresh, notifiedVersion: $0.notifiedVersion) }
  }

  /// The values that commits set, of the scalars that are observed, as they are in a version. O(log n) where there are none.
  func values(
    setBy records: [CommitRecord], in reading: any StorageReading
  ) throws(StorageError) -> [PropertyID: Value] {
    guard case .properties(let filter) = subject else { return [:] }
    var values: [PropertyID: Value] = [:]
    for change in records.flatMap(\.tables) where change.table == table {
      guard let modified = change.modifiedObject(key), try reading.contains(table, key) else { continue }
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

extension ObjectWatch.Marks {
  /// The observer knows of commits that came after what `waited` for it; `changes` are theirs.
  fileprivate mutating func skip(_ changes: [TableChange], of key: ObjectKey, to waited: Self) {
    leading = waited.leading
    sources = waited.sources
    // One that is gone, or of which something is not known, is reported as a whole.
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
