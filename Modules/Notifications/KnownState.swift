import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// What some tokens of one result were given last, and what changed since: one for each distinct state, however many
/// tokens share it.
final class KnownState: @unchecked Sendable {
  // Sound because everything but the release is done by `KeptResult`, under the notifier's lock. The last reference may be
  // let go of on any thread: what is freed then are values, and view versions, which are released on any thread.
  private var pending: any PendingResult
  /// Who wrote what is pending.
  private(set) var sources = CommitSources()

  init(_ pending: any PendingResult) { self.pending = pending }

  /// A copy, for tokens that know something else from here on.
  private func copy() -> KnownState {
    let copy = KnownState(pending)
    copy.sources = sources
    return copy
  }

  /// For a token that is not notified of a step. `keys` reads full sort keys as they were before it.
  func copy(skipping step: ResultStep, _ keys: FullKeys?) throws(StorageError) -> KnownState {
    let own = copy()
    try own.pending.skip(step, keys)
    return own
  }

  /// For a token that is notified of some of a step's rows alone, and of those that wait to be reported already; nil: of all.
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

  /// What happened to objects that are no rows, and may come back.
  func note(outside marks: [Int64: RowMarks]) { pending.note(outside: marks) }

  /// The result was made anew: from here on both states are compared whole.
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

  /// What is reported to a token that knows this.
  func changeSet(
    to current: ResultVersion, at version: Version, _ keys: FullKeys?, _ filter: ModificationFilter
  ) throws(StorageError) -> (changes: ChangeSet, deleted: DeletedRows) {
    try pending.changeSet(to: current, at: version, keys, filter)
  }
}
