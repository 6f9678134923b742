import StorageInterface
import StoreValues

/// The changes of one set or map between a state that observers were given and now, over any number of commits: members that
/// came, went, or have another value, net. Positions are worked out when somebody is notified, from the newest version alone.
///
/// A value, confined to its owner. Bounded by the members.
package struct NetMemberChanges: Sendable {
  private struct Change: Sendable {
    var member: Value
    var kind: MemberChange.Kind
  }

  /// How many members there were in the state that observers were given.
  private var oldCount: Int
  private let isMap: Bool
  /// By the member's place in the order of values.
  private var changes: [[UInt8]: Change] = [:]
  /// What happened is not known, or the owner is gone: nothing is the same.
  private var isLost = false

  package init(count: Int, isMap: Bool) {
    oldCount = max(count, 0)
    self.isMap = isMap
  }

  /// The same collection as observers are given it now.
  package func fresh(count: Int) -> NetMemberChanges { NetMemberChanges(count: count, isMap: isMap) }

  /// Adds what happened to one member next. An object that went and came back counts as modified, as a key of a map does: what it was
  /// before it went, and what happened to it while it was out, is reported nowhere else. A value that came back is as it was.
  package mutating func add(_ change: MemberChange) {
    let key = change.member.orderKey
    guard let before = changes[key] else {
      changes[key] = Change(member: change.member, kind: change.kind)
      return
    }
    let mayDiffer = if case .link = change.member { true } else { isMap }
    changes[key] = before.kind.followed(by: change.kind, inMap: mayDiffer).map { Change(member: before.member, kind: $0) }
  }

  /// What happens to one member next is known to the observers already, and with it all that waited to be reported of the member.
  package mutating func skip(_ change: MemberChange) {
    let waiting = changes.removeValue(forKey: change.member.orderKey)?.kind
    let wasKnown = waiting.map { $0 != .inserted } ?? (change.kind != .inserted)
    oldCount += (change.kind == .removed ? 0 : 1) - (wasKnown ? 1 : 0)
  }

  /// Says that everything that was there went, and what is there came.
  package mutating func lose() {
    isLost = true
    changes = [:]
  }

  package var isEmpty: Bool { changes.isEmpty && !isLost }

  /// What is reported to observers. `reading` reads the newest version; nil when the collection is gone. O(k log n).
  package func changeSet(
    of column: ColumnID, _ owner: ObjectKey, in reading: (any StorageReading)?
  ) throws(StorageError) -> (positions: ChangeSet, members: ChangedMembers) {
    guard let reading, !isLost else {
      let count = try reading?.elementCount(column, owner) ?? 0
      return (ChangeSet(deletions: Array(0..<oldCount), insertions: Array(0..<count)), ChangedMembers())
    }
    let sorted = changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    var (set, members) = (ChangeSet(), ChangedMembers())
    /// How many inserted and removed members come before.
    var (inserted, removed) = (0, 0)
    for change in sorted {
      let (position, isThere) = try place(of: change.member, column, owner, in: reading)
      switch change.kind {
      case .inserted:
        guard isThere else { continue }  // no record says so of a member that is not there
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

  /// Where a member stands, or would. O(log n).
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

/// Members of a set, or keys of a map, that changed: each in the order of the positions they go with.
package struct ChangedMembers: Sendable, Hashable {
  package var deleted: [Value] = []
  package var inserted: [Value] = []
  package var modified: [Value] = []

  package init() {}

  package var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && modified.isEmpty }
}
