import StorageInterface
import StoreValues

/// The net changes of one set or map between a state given to observers and the current one, over any number of commits:
/// members inserted, removed, or with another value. Positions are computed when an observer is notified, from the newest
/// version alone.
///
/// A value, confined to its owner. Bounded by the members.
package struct NetMemberChanges: Sendable {
  private struct Change: Sendable {
    var member: Value
    var kind: MemberChange.Kind
  }

  /// The number of members in the state given to observers.
  private var oldCount: Int
  private let isMap: Bool
  /// By the member's order key.
  private var changes: [[UInt8]: Change] = [:]
  /// The changes are unknown, or the owner is deleted: nothing counts as unchanged.
  private var isLost = false
  /// The keys of a map that skipped commits inserted (true) or removed (false) since observers were last called. As values, which are
  /// equal if their bytes are.
  package private(set) var skippedKeys: [Value: Bool] = [:]

  package init(count: Int, isMap: Bool) {
    oldCount = max(count, 0)
    self.isMap = isMap
  }

  /// The tracker for the same collection after the observers were given its current state.
  package func fresh(count: Int) -> NetMemberChanges { NetMemberChanges(count: count, isMap: isMap) }

  /// The tracker for the same collection whose observers know its current state without having been called.
  package func known(count: Int) -> NetMemberChanges {
    var known = fresh(count: count)
    known.skippedKeys = skippedKeys
    return known
  }

  /// Records a change of a key that observers know without having been called.
  package mutating func learn(_ change: MemberChange) {
    if isMap { skippedKeys[change.member] = change.kind != .removed }
  }

  /// Adds the next change of a member. An object removed and inserted again counts as modified, as does a key of a map, because
  /// its state before and its changes in between are reported nowhere else. A plain value inserted again is unchanged.
  package mutating func add(_ change: MemberChange) {
    let key = change.member.orderKey
    guard let before = changes[key] else {
      changes[key] = Change(member: change.member, kind: change.kind)
      return
    }
    let mayDiffer = if case .link = change.member { true } else { isMap }
    changes[key] = before.kind.followed(by: change.kind, inMap: mayDiffer).map { Change(member: before.member, kind: $0) }
  }

  /// Adds the next change of a member that observers already know, and with it all pending changes of the member.
  package mutating func skip(_ change: MemberChange) {
    let waiting = changes.removeValue(forKey: change.member.orderKey)?.kind
    let wasKnown = waiting.map { $0 != .inserted } ?? (change.kind != .inserted)
    oldCount += (change.kind == .removed ? 0 : 1) - (wasKnown ? 1 : 0)
  }

  /// Records that all old members were removed and all current ones inserted.
  package mutating func lose() {
    isLost = true
    changes = [:]
  }

  package var isEmpty: Bool { changes.isEmpty && !isLost }

  /// The change set for observers. `reading` reads the newest version; nil if the collection is gone. O(k log n).
  package func changeSet(
    of column: ColumnID, _ owner: ObjectKey, in reading: (any StorageReading)?
  ) throws(StorageError) -> (positions: ChangeSet, members: ChangedMembers) {
    guard let reading, !isLost else {
      let count = try reading?.elementCount(column, owner) ?? 0
      return (ChangeSet(deletions: Array(0..<oldCount), insertions: Array(0..<count)), ChangedMembers())
    }
    let sorted = changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    var (set, members) = (ChangeSet(), ChangedMembers())
    /// The numbers of inserted and removed members that come before.
    var (inserted, removed) = (0, 0)
    for change in sorted {
      let (position, isThere) = try place(of: change.member, column, owner, in: reading)
      switch change.kind {
      case .inserted:
        guard isThere else { continue }  // a damaged record: the member does not exist
        set.insertions.append(position)
        members.inserted.append(change.member)
        inserted += 1
      case .removed:
        set.deletions.append(position - inserted + removed)
        members.deleted.append(change.member)
        removed += 1
      case .modified:
        guard isThere else { continue }
        set.modifications.append(position - inserted + removed)
        set.modificationsInNew.append(position)
        members.modified.append(change.member)
      }
    }
    return (set, members)
  }

  /// The position of a member, or where it would be inserted. O(log n).
  private func place(
    of member: Value, _ column: ColumnID, _ owner: ObjectKey, in reading: any StorageReading
  ) throws(StorageError) -> (position: Int, isThere: Bool) {
    if let position = try reading.position(of: member, in: column, owner) { return (position, true) }
    let wanted = member.orderKey
    var (low, high) = (0, try reading.elementCount(column, owner))
    while low < high {
      let middle = (low + high) / 2
      guard let found = try self.member(at: middle, column, owner, in: reading) else { break }
      if found.orderKey.lexicographicallyPrecedes(wanted) { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  private func member(
    at position: Int, _ column: ColumnID, _ owner: ObjectKey, in reading: any StorageReading
  ) throws(StorageError) -> Value? {
    if !isMap { return try reading.values(column, owner, position..<position + 1).first }
    return try reading.entries(column, owner, position..<position + 1).first.map { .string($0.key) }
  }
}

/// Changed members of a set, or keys of a map, each list in the order of its positions.
package struct ChangedMembers: Sendable, Hashable {
  package var deleted: [Value] = []
  package var inserted: [Value] = []
  package var modified: [Value] = []

  package init() {}

  package var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && modified.isEmpty }
}
