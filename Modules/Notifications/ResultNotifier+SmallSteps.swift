import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

// A small step costs little more than finding out that it is due. Whoever needs its outcome takes it: the turn that comes first, or a read
// after an own commit. Every other step, and every error, is left to the notifier's queue.

extension ResultNotifier {
  /// The most changes of a small step, counted for each result.
  static let smallStepRows = 32

  /// The most changes of a small step with the results that are kept now; 0: no step is small. Call with `lock`.
  private var smallStepChanges: Int { ResultNotifier.smallStepRows / max(1, results.count) }

  /// Whether a step can be small, as far as that can be said before its commits are known. Call with `lock`. O(results).
  var canStepsBeSmall: Bool {
    smallStepChanges > 0 && deepWatches.isEmpty && results.values.allSatisfy(\.isKeptByRowsAlone)
  }

  /// Whether the step over some commits is small. Nothing else decides that. Call with `lock`. O(results), with a small factor.
  func isSmall(_ records: [CommitRecord]) -> Bool {
    guard canStepsBeSmall, records.costOfStep(upTo: smallStepChanges) <= smallStepChanges else { return false }
    return results.values.allSatisfy { result in records.allSatisfy(result.costsItsRowsAlone) }
  }

  /// Takes the due step, if it is small. Called by a turn that needs the step's outcome, instead of waiting for another thread
  /// to wake and do the same. Call with `lock`.
  func takeSmallStep() {
    guard isStepDue.load(ordering: .acquiring) else { return }
    // Only tried: whoever has it may be waiting for the lock.
    if steps.withLockIfAvailable({ _ in stepIfSmall() }) != true { requestStep() }
  }

  /// Steps to the newest version, if that is small. False if it is left to the queue, which the caller asks for it. Call with `steps` and
  /// `lock`.
  private func stepIfSmall() -> Bool {
    // Nothing is held after an error, or yet: what is being begun may be older than the due version, and the step must follow it.
    guard let from = held, largeStepFrom != from.version else { return false }
    // Cleared before the step looks: a later commit makes another one due.
    _ = isStepDue.exchange(false, ordering: .acquiringAndReleasing)
    guard let newest = try? engine.latestVersion() else { return leaveStep(from) }
    if newest == from.version { return true }
    // Checked before anything is opened for it.
    let canBeSmall = canStepsBeSmall
    turnsTakeSteps.store(canBeSmall, ordering: .relaxed)
    guard canBeSmall, ownRecords.records(after: from.version, to: newest).map(isSmall) ?? true,
      let to = try? openNewest(for: placesTakingTurns)
    else { return leaveStep(from) }
    if to.version == from.version {
      to.end()
      return true
    }
    guard let records = try? self.records(from: from, to: to.own, upTo: smallStepChanges), isSmall(records) else {
      to.end()
      return leaveStep(from)
    }
    let stepsBefore = workDone.steps
    do throws(StorageError) {
      try step(from, to, records, Answers())
      workDone.stepsInTurns += workDone.steps - stepsBefore
    } catch {
      fail(error)
    }
    return true
  }

  private func leaveStep(_ from: any ReadTransaction) -> Bool {
    largeStepFrom = from.version
    isStepDue.store(true, ordering: .releasing)
    return false
  }

  /// Does something under the lock, again if it gave nothing. Nil if that takes longer than a small step: others have the lock, or what
  /// else is needed.
  func withLockSoon<R: Sendable>(_ body: () -> R?) -> R? {
    let end = ContinuousClock.now + .microseconds(60)
    repeat {
      if let done = lock.withLockIfAvailable({ _ in body() }), let done { return done }
    } while ContinuousClock.now < end
    return nil
  }
}

extension ResultNotifier {
  /// The state of an observed result at a version, after a small step if that is necessary; nil if it is not kept, is already ahead, is
  /// behind by more than that, or others take their time over a step or a commit. O(change).
  package func state(of identity: any Hashable & Sendable, at version: Version) -> ResultVersion? {
    let identity = AnyHashable(identity)
    let looked = withLockSoon { () -> (state: ResultVersion?, deferredWork: DeferredWork)? in
      guard results[identity] != nil, skippingCommit == nil, let held, held.version <= version else { return (nil, DeferredWork()) }
      if held.version < version {
        guard let isTaken = steps.withLockIfAvailable({ _ in stepIfSmall() }) else { return nil }
        if !isTaken { requestStep() }
      }
      return (self.held?.version == version ? results[identity]?.current : nil, takeDeferredWork())
    }
    guard let looked else { return nil }
    finishInContext(looked.deferredWork)
    return looked.state
  }
}

extension Sequence<CommitRecord> {
  /// What a step over these commits costs: each commit and object, and each edit of a collection with its elements. Counted no further than
  /// past a limit: a damaged record may name any number.
  func costOfStep(upTo limit: Int) -> Int {
    var cost = 0
    for record in self {
      cost += Swift.max(1, record.costOfStep(upTo: limit))
      if cost > limit { break }
    }
    return cost
  }
}

extension CommitRecord {
  fileprivate func costOfStep(upTo limit: Int) -> Int {
    var cost = 0
    for change in tables {
      cost += change.inserted.count + change.deleted.count + change.modified.count
      for list in change.lists {
        for edit in list.edits {
          if cost > limit { return cost }
          cost += edit.elements(upTo: limit)
        }
      }
      for collection in change.collections { cost += collection.members.count }
      if cost > limit { return cost }
    }
    return cost
  }
}

extension ListChange.Edit {
  fileprivate func elements(upTo limit: Int) -> Int {
    switch self {
    case .insert(_, let count): Swift.max(1, Swift.min(count, limit + 1))
    case .remove(let range): Swift.max(1, Swift.min(range.count, limit + 1))
    case .set, .move, .clear: 1
    }
  }
}
