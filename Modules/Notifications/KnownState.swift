import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// The state last given to some tokens of one result, and the changes since: one for each distinct state, however many tokens
/// share it.
final class KnownState: @unchecked Sendable {
  // Sound because everything but the release is done by `KeptResult`, under the notifier's lock. The last reference may be
  // released on any thread: that frees values, and view versions, which may be released on any thread.
  private var pending: any PendingResult
  /// The authors of the pending changes.
  private(set) var sources = CommitSources()

  init(_ pending: any PendingResult) { self.pending = pending }

  /// A copy, for tokens whose state differs from here on.
  private func copy() -> KnownState {
    let copy = KnownState(pending)
    copy.sources = sources
    return copy
  }

  /// The state for a token that is not notified of a step. `keys` reads full sort keys from before it.
  func copy(skipping step: ResultStep, _ keys: FullKeys?) throws(StorageError) -> KnownState {
    let own = copy()
    try own.pending.skip(step, keys)
    return own
  }

  /// The state for a token that is notified of only some of a step's rows, and of those already pending; nil: of all.
  func copy(
    adding step: ResultStep, notifying rows: Set<Int64>?, _ keys: FullKeys?, by records: [CommitRecord]
  ) throws(StorageError) -> KnownState {
    let own = copy()
    if let rows, try own.pending.add(step, notifying: rows, keys) {
      own.note(records)
    } else if rows?.isEmpty == true, own.isEmpty {
      try own.pending.skip(step, keys)
    } else {
      own.add(step, by: records)
    }
    return own
  }

  var isEmpty: Bool { pending.isEmpty }

  func add(_ step: ResultStep, by records: [CommitRecord]) {
    pending.add(step)
    note(records)
  }

  /// Notes changes of objects that are not rows, but may come back.
  func note(outside marks: [Int64: RowMarks]) { pending.note(outside: marks) }

  /// Records that the result was rebuilt: from here on the two states are compared as a whole.
  func lose(_ marks: [Int64: RowMarks], by records: [CommitRecord]) {
    var compared = pending.compared
    compared.add(ComparedStep(old: [], new: [0], marks: marks))
    pending = compared
    note(records)
  }

  private func note(_ records: [CommitRecord]) {
    if isEmpty {
      sources = CommitSources()
      return
    }
    for record in records { sources.add(record) }
  }

  /// The change set for a token with this state.
  func changeSet(
    to current: ResultVersion, at version: Version, _ keys: FullKeys?, _ filter: ModificationFilter
  ) throws(StorageError) -> (changes: ChangeSet, deleted: DeletedRows) {
    try pending.changeSet(to: current, at: version, keys, filter)
  }
}
