import ChangeTracker
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

// How the notifier hears of commits, and who takes the step to the newest version.

extension ResultNotifier {
  /// Call when there may be a newer version.
  package func wake() { wake(isSmall: turnsTakeSteps.load(ordering: .relaxed)) }

  /// Commits for this process. As `wake()`, without the detour by the bell, which does not ring here; and the record is handed over
  /// directly, so that the step over it need not decode it.
  ///
  /// If its step is small, contexts wake alone, and the first takes it; the queue takes it if none has after a while. Otherwise the queue
  /// takes it at once, and they wake while it does.
  package func commit(
    _ write: RecordedTransaction, author: String?, timeMilliseconds: Int64, _ durability: Durability
  ) throws(StorageError) -> Version {
    commitsUnderWay.add(1, ordering: .sequentiallyConsistent)
    defer { commits.wakeAll() }
    let version: Version
    do throws(StorageError) {
      version = try commits.teller.telling { () throws(StorageError) in
        try write.commit(author: author, timeMilliseconds: timeMilliseconds, durability)
      }
    } catch {
      // The bell may have rung for another commit; and this one may be visible, though it is not synced.
      if endCommit() || isListening.load(ordering: .sequentiallyConsistent) { wake() }
      throw error
    }
    guard placesToWake.withLock({ !$0.isEmpty }) else {
      // What is about to be observed has no place yet, and may be of the version before.
      if endCommit() || isListening.load(ordering: .sequentiallyConsistent) { wake() }
      return version
    }
    if let record = write.committed { ownRecords.add(record) }
    awaitedVersion.max(version.rawValue, ordering: .acquiringAndReleasing)
    _ = endCommit()
    wake(isSmall: isSmallAtOnce(write.committed))
    return version
  }

  /// Whether the step over a commit is small; nil: others are changing what is kept, and a commit does not wait for them.
  private func isSmallAtOnce(_ record: CommitRecord?) -> Bool? {
    guard let record, [record].costOfStep(upTo: ResultNotifier.smallStepRows) <= ResultNotifier.smallStepRows else { return false }
    return lock.withLockIfAvailable { _ in isSmall([record]) }
  }

  /// Ends a commit of this process. Returns whether an unanswered bell rang.
  func endCommit() -> Bool {
    commitsUnderWay.subtract(1, ordering: .sequentiallyConsistent)
    return isBellUnanswered.exchange(false, ordering: .sequentiallyConsistent)
  }

  /// Call when the bell rang. Commits of this process request their step before it, or when they are over.
  func hearBell() {
    // Set before checking whether a commit is running: either its end sees this, or it was seen here. Not cleared below:
    // another bell may have set it too, and a superfluous look costs nothing.
    isBellUnanswered.store(true, ordering: .sequentiallyConsistent)
    if commitsUnderWay.load(ordering: .sequentiallyConsistent) == 0 { answerBell() }
  }

  /// Asks for a step, if there is a version for which nobody did.
  func answerBell() {
    if let newest = try? engine.latestVersion(), newest.rawValue <= awaitedVersion.load(ordering: .acquiring) { return }
    wake()
  }

  /// - Parameter isSmall: whether the step is small; nil if unknown: then the queue and the contexts are asked, and the first takes it.
  private func wake(isSmall: Bool?) {
    let wasDue = isStepDue.exchange(true, ordering: .acquiringAndReleasing)
    // Also if one is due already: that may wait for a context.
    if isSmall != true { requestStep() }
    if wasDue || isSmall == false { return }
    // Contexts first: their turn takes a small step, or asks for one.
    var isTurnComing = false
    for place in placesToWake.withLock({ Array($0.values) }) {
      place.wake()
      if place.takesTurns { isTurnComing = true }
    }
    if isTurnComing { watchOverTurns() } else { requestStep() }
  }

  /// Has the due step taken on the queue.
  func requestStep() {
    if isStepRequested.exchange(true, ordering: .acquiringAndReleasing) { return }
    queue.async { [weak self] in self?.takeDueStep() }
  }

  /// Contexts that have no time for a turn hold a version, and their results, for no longer than this.
  private func watchOverTurns() {
    if isWatchingOverTurns.exchange(true, ordering: .acquiringAndReleasing) { return }
    queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [weak self] in
      guard let self else { return }
      // A commit that saw the watch has requested its step before: it is seen here.
      _ = isWatchingOverTurns.exchange(false, ordering: .acquiringAndReleasing)
      if isStepDue.load(ordering: .acquiring) { takeDueStep() }
    }
  }

  func takeDueStep() {
    // Both cleared before the step looks: a later commit requests another one.
    _ = isStepRequested.exchange(false, ordering: .acquiringAndReleasing)
    steps.withLock { _ in
      _ = isStepDue.exchange(false, ordering: .acquiringAndReleasing)
      catchUp(wakesEarly: true)
      lock.withLock { _ in turnsTakeSteps.store(canStepsBeSmall, ordering: .relaxed) }
    }
    restIfIdle()
  }
}
