import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

// A commit that skips observers has three parts. Under `steps`, everything is brought to the version that the write began from, and
// what its changes make of each result is found before they are visible. Then it is committed, and synced if asked, without the lock:
// turns look meanwhile, and are told to come again. Last, under the lock, observers are left where they are, or told.

extension ResultNotifier {
  /// A commit that skips observers, between its preparation and its end.
  struct SkippingCommit {
    /// The results that are kept row by row and have taken the step, or asked again as a whole.
    fileprivate var steps: [(KeptResult, ResultStep)] = []
    /// Those that will be made anew: their question is another one, or was not answered. They have taken no step.
    fileprivate var anew: [KeptResult] = []
    /// Those whose step failed: they are at no version until they are made anew.
    fileprivate var torn: [KeptResult] = []
    fileprivate var answers = Answers()
    fileprivate var watches: [(watch: ObjectWatch, known: ObjectWatch.Known)] = []
  }

  /// Commits an open write without notifying some tokens of its changes: their known state advances to its result. Exact even
  /// while earlier changes are pending for them.
  ///
  /// With `skipsEverybody` no token of this process is notified. `commit` is called once; if it throws, nobody is notified.
  package func commit(
    _ write: any WriteTransaction, _ record: CommitRecord, skipping observations: [ResultObservation],
    watches skippedWatches: [ObjectWatch] = [], skipsEverybody: Bool = false, _ commit: () throws(StorageError) -> Version
  ) throws(StorageError) -> Version {
    // Contexts that a bell wakes meanwhile would be told to come again.
    commitsUnderWay.add(1, ordering: .sequentiallyConsistent)
    defer { if endCommit() { answerBell() } }
    return try steps.withLock { _ throws(StorageError) in
      // The writer's lock is held: no version is newer than the one the write began from, until it is over.
      // A write does not fail because its observers cannot be notified: they get the error.
      catchUp()
      guard let from = lock.withLock({ _ in held }), from.version == write.version else { return try commit() }
      let answers = answers(to: lock.withLock { _ in questions(touchedBy: [record]) }, in: write)
      lock.withLock { _ in
        let skipped = skipsEverybody ? watches.values.flatMap { $0.values.joined() } : skippedWatches
        prepare(record, from: from, to: write, answers, skipping: skipped)
      }
      var version = from.version.next
      // Then it is visible, and the disk may lack it.
      var unsynced: StorageError?
      do throws(StorageError) {
        version = try commit()
      } catch where error.code == .unsynced {
        unsynced = error
      } catch {
        lock.withLock { _ in undo(in: from) }
        throw error
      }
      lock.withLock { _ in conclude(record, from, at: version, skipping: observations, orEverybody: skipsEverybody) }
      if let unsynced { throw unsynced }
      return version
    }
  }

  /// Finds what the write makes of each result, and what skipped watches know then.
  private func prepare(
    _ record: CommitRecord, from: any ReadTransaction, to write: any WriteTransaction, _ answers: Answers, skipping skipped: [ObjectWatch]
  ) {
    var commit = SkippingCommit(answers: answers)
    for result in results.values {
      let answer: KeptResult.Answer?
      do throws(StorageError) {
        answer = try answers[result]
        if try result.isRebound(by: [record], in: write) {
          commit.anew.append(result)
          continue
        }
      } catch {
        commit.anew.append(result)
        continue
      }
      do throws(StorageError) {
        if let step = try result.step([record], from: from, to: write, answer) { commit.steps.append((result, step)) }
      } catch {
        commit.torn.append(result)
      }
    }
    commit.watches = skipped.map { ($0, (try? $0.known(setBy: [record], in: write)) ?? ObjectWatch.Known()) }
    skippingCommit = commit
  }

  /// Takes results back to the version before a commit that failed. Those that were to be made anew are still there.
  private func undo(in from: any ReadTransaction) {
    guard let commit = takeSkippingCommit() else { return }
    for result in commit.steps.map(\.0) + commit.torn { rebuild(result, in: from, by: [], Answers()) }
    for observingStore in observingStores.values { observingStore.place.wake() }
  }

  private func conclude(
    _ record: CommitRecord, _ from: any ReadTransaction, at version: Version, skipping observations: [ResultObservation],
    orEverybody skipsEverybody: Bool
  ) {
    guard let commit = takeSkippingCommit() else { return }
    let skipping = skipsEverybody ? results.values.flatMap(\.observations) : observations
    for (result, step) in commit.steps {
      do throws(StorageError) {
        try result.add(step, by: [record], skipping: skipping, (from, from))
      } catch {
        fail(result, error)
      }
      workDone.steps += 1
    }
    // Skipped tokens without pending changes know a rebuilt result, too.
    let knowing = skipping.filter { $0.known?.isEmpty == true }
    do throws(StorageError) {
      try settle(commit, at: version, from, record)
      if held?.version == version { for result in commit.torn + commit.anew { result.rebase(knowing, at: version) } }
    } catch {
      fail(error)
    }
  }

  private func takeSkippingCommit() -> SkippingCommit? {
    defer { skippingCommit = nil }
    return skippingCommit
  }

  /// Whether nothing is pending for a token: it knows the result as of the last commit that touched it.
  package func hasNothing(for observation: ResultObservation) -> Bool {
    lock.withLock { _ in observation.known?.isEmpty == true }
  }

  /// Reads the version just committed from now on; or a later one, if another process was faster.
  private func settle(
    _ commit: SkippingCommit, at version: Version, _ from: any ReadTransaction, _ record: CommitRecord
  ) throws(StorageError) {
    let to = try openNewest(for: placesTakingTurns)
    let waited = commit.watches.map { $0.watch.waiting }
    try note([record], from: from, to: to.own)
    // Those that were stopped meanwhile may be detached.
    for ((watch, known), waited) in zip(commit.watches, waited) where !watch.isEnded {
      skip(watch, [record], waited, knowing: known, at: version, to.own)
    }
    if to.version != version { try note(try records(after: version, in: to.own), from: to.own, to: to.own) }
    hold(to)
    from.end()
    if to.version == version {
      for result in commit.torn + commit.anew { rebuild(result, in: to.own, by: [record], commit.answers) }
    } else {
      let records = try self.records(after: version, in: to.own)
      for result in results.values { rebuild(result, in: to.own, by: records, Answers()) }
    }
    for observingStore in observingStores.values { observingStore.place.wake() }
  }

  private func rebuild(_ result: KeptResult, in reading: any StorageReading, by records: [CommitRecord]?, _ answers: Answers) {
    workDone.rebuilds += 1
    do throws(StorageError) { try result.rebuild(in: reading, by: records, try answers[result]) } catch { fail(result, error) }
  }
}
