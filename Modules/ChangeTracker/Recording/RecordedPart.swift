import StorageInterface

/// What an open write has recorded up to a savepoint, or since one.
struct RecordedPart {
  var changes = PendingChanges()
  var members = PendingMembers()
  /// Objects that lost an owner.
  var letGo: Set<ObjectPlace> = []
  /// The original values of scalars, if they are recorded.
  var values: PendingValues?
  /// For the write's companion; nil without one.
  var notes: CommitNotes?

  /// One of the same kind in which nothing has happened.
  var empty: RecordedPart {
    var part = RecordedPart(values: values.map { PendingValues(areRecorded: $0.areRecorded) }, notes: notes.map { _ in CommitNotes() })
    if changes.touched != nil { part.changes.touched = [] }
    return part
  }

  /// Adds what happened later. O(later).
  mutating func add(_ later: RecordedPart) {
    changes.add(later.changes)
    members.add(later.members)
    letGo.formUnion(later.letGo)
    if let more = later.values { values?.add(more) }
    if let more = later.notes { notes?.add(more) }
  }
}
