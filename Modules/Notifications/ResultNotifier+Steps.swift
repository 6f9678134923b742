import ChangeTracker
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

// MARK: - Hearing of commits

extension ResultNotifier {
  /// The most rows of a small step, counted for each result; a turn takes such a step itself.
  static let smallStepRows = 32

  /// Call when there may be a newer version.
  package func wake() { wake(withPlaces: true) }

  /// Commits for this process. As `wake()`, without the detour by the bell, and the record is handed over directly, so that the
  /// step over it need not decode it.
  ///
  /// If the commit is small, contexts wake together with the notifier, and whoever comes first takes the step. Otherwise they
  /// wake when the step is running.
  package func commit(
    _ write: RecordedTransaction, author: String?, timeMilliseconds: Int64, _ durability: Durability
  ) throws(StorageError) -> Version {
    commitsUnderWay.add(1, ordering: .sequentiallyConsistent)
    let version: Version
    do throws(StorageError) {
      version = try write.commit(author: author, timeMilliseconds: timeMilliseconds, durability)
    } catch {
      // The bell may have rung for another commit, or for this one: visible, but not synced.
      if endCommit() { wake() }
      throw error
    }
    guard placesToWake.withLock({ !$0.isEmpty }) else {
      if endCommit() { wake() }
      return version
    }
    if let record = write.committed { ownRecords.add(record) }
    awaitedVersion.max(version.rawValue, ordering: .acquiringAndReleasing)
    _ = endCommit()
    wake(withPlaces: (write.committed?.changeCount ?? .max) <= ResultNotifier.smallStepRows)
    return version
  }

  /// Ends a commit of this process. Returns whether an unanswered bell rang.
  private func endCommit() -> Bool {
    commitsUnderWay.subtract(1, ordering: .sequentiallyConsistent)
    return isBellUnanswered.exchange(false, ordering: .sequentiallyConsistent)
  }

  /// Call when the bell rang. Commits of this process request their step before it, or when they are over.
  func hearBell() {
    // Set before checking whether a commit is running: either its end sees this, or it was seen here. Not cleared below:
    // another bell may have set it too, and a superfluous look costs nothing.
    isBellUnanswered.store(true, ordering: .sequentiallyConsistent)
    if commitsUnderWay.load(ordering: .sequentiallyConsistent) > 0 { return }
    if let newest = try? engine.latestVersion(), newest.rawValue <= awaitedVersion.load(ordering: .acquiring) { return }
    wake()
  }

  private func wake(withPlaces: Bool) {
    if isStepDue.exchange(true, ordering: .acquiringAndReleasing) { return }
    // Contexts first: their turn takes a small step, and waits if the queue has begun it.
    if withPlaces { for place in placesToWake.withLock({ Array($0.values) }) { place.wake() } }
    queue.async { [weak self] in
      guard let self else { return }
      let deferredWork = lock.withLock { _ in
        // Cleared before the step looks: a later commit requests another one.
        self.isStepDue.store(false, ordering: .releasing)
        do throws(StorageError) { try self.step(wakesEarly: true) } catch { self.fail(error) }
        self.restIfIdle()
        return self.takeDeferredWork()
      }
      finish(deferredWork)
    }
  }
}

// MARK: - Steps

extension ResultNotifier {
  /// Advances everything to the newest version.
  func advance() throws(StorageError) {
    defer { finish(takeDeferredWork()) }
    try step()
  }

  /// - Parameter wakesEarly: wakes contexts during the work: waking takes about as long as a small step, and the turn waits for
  ///   the little that is left.
  private func step(wakesEarly: Bool = false) throws(StorageError) {
    guard let from = held, try engine.latestVersion() != from.version else { return }
    if wakesEarly { for place in sleepingPlaces { place.wake() } }
    let to = try openNewest()
    guard to.version != from.version else { return to.end() }
    try step(from, to, try records(from: from, to: to))
  }

  /// Takes the due step, if it is small. Called by a turn that needs the step's outcome, instead of waiting for another thread
  /// to wake and do the same. Other steps, and errors, are left to the notifier's queue.
  func takeSmallStep() {
    // Checked before anything is opened for it.
    guard isStepDue.load(ordering: .acquiring), deepWatches.isEmpty, results.values.allSatisfy(\.isKeptByRowsAlone)
    else { return }
    guard let from = held, let newest = try? engine.latestVersion(), newest != from.version,
      let to = try? openNewest()
    else { return }
    guard to.version != from.version, let records = try? self.records(from: from, to: to),
      isSmall(records)
    else { return to.end() }
    let stepsBefore = workDone.steps
    do throws(StorageError) {
      try step(from, to, records)
      workDone.stepsInTurns += workDone.steps - stepsBefore
    } catch {
      fail(error)
    }
  }

  private func isSmall(_ records: [CommitRecord]) -> Bool {
    let changes = records.reduce(0) { $0 + $1.changeCount }
    guard changes * max(1, results.count) <= ResultNotifier.smallStepRows else { return false }
    return results.values.allSatisfy { result in records.allSatisfy(result.costsItsRowsAlone) }
  }

  /// - Parameter records: the commits between the two; nil if unknown.
  private func step(
    _ from: any ReadTransaction, _ to: any ReadTransaction, _ records: [CommitRecord]?
  ) throws(StorageError) {
    for result in results.values {
      do throws(StorageError) {
        if let records {
          if try result.isRebound(by: records, in: to) {
            try result.rebind(records, from: from, to: to)
            workDone.rebuilds += 1
          } else {
            guard let step = try result.step(records, from: from, to: to) else { continue }
            try result.add(step, by: records, (from, to))
          }
        } else {
          try result.rebuild(in: to, by: nil)
          workDone.rebuilds += 1
        }
        workDone.steps += 1
      } catch {
        fail(result, error)
      }
    }
    try note(records, from: from, to: to)
    hold(to)
    deferredWork.ended.append(from)
    deferredWork.places += sleepingPlaces
  }

  /// Makes this the version at which everything is kept.
  func hold(_ reading: any ReadTransaction) {
    held = reading
    awaitedVersion.max(reading.version.rawValue, ordering: .acquiringAndReleasing)
  }

  /// Places that are not about to look by themselves.
  private var sleepingPlaces: [DeliveryPlace] {
    observingStores.values.map(\.place).filter { !$0.isLooking.load(ordering: .acquiring) }
  }

  private func takeDeferredWork() -> DeferredWork {
    defer { deferredWork = DeferredWork() }
    return deferredWork
  }

  /// Wakes observers first, because releasing what a version had read takes time.
  private func finish(_ deferredWork: DeferredWork) {
    for place in deferredWork.places { place.wake() }
    for reading in deferredWork.ended { reading.end() }
  }

  /// Ends everything that is kept or watched, because it can no longer be: each observer only gets the error.
  func fail(_ error: StorageError) {
    for result in results.values { fail(result, error) }
    for watch in watches.values.flatMap({ $0.values.joined() }) {
      watch.fail(error)
      touch(watch)
    }
    // Nobody is notified of a version, and a store that has moved by itself is not behind. New observations start afresh.
    held?.end()
    held = nil
    for observingStore in observingStores.values { observingStore.place.wake() }
  }

  /// The same for one result.
  func fail(_ result: KeptResult, _ error: StorageError) {
    for observation in result.observations {
      observation.fail(error)
      observation.place.wake()
      removeStore(at: observation.place)
    }
    drop(result)
  }
}

// MARK: - Versions

extension ResultNotifier {
  /// The commits between two versions; nil if they are no longer known, or if a migration is among them: kept results were made
  /// for the old columns, and a newer program asks the same question of the new ones.
  func records(
    from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> [CommitRecord]? {
    let (old, new) = (from.catalog, to.catalog)
    guard old.schemaVersion == new.schemaVersion, old.completedMigrations == new.completedMigrations else { return nil }
    guard let records = try self.records(after: from.version, in: to), try !records.nameMore(thanIn: from, to) else { return nil }
    return records
  }

  /// The commits after a version, up to the one that is read; nil if they are no longer known. Those of this process are in
  /// memory.
  func records(
    after version: Version, in reading: any StorageReading
  ) throws(StorageError) -> [CommitRecord]? {
    if let own = ownRecords.records(after: version, to: reading.version) { return own }
    workDone.historyReads += 1
    var records: [CommitRecord] = []
    do throws(StorageError) {
      try reading.history(after: version) { record in
        records.append(record)
        return .proceed
      }
    } catch {
      if error.code == .historyTrimmed { return nil }
      throw error
    }
    return records
  }

  /// Opens the newest version for the notifier and for each store that takes turns. Only the newest version can be opened, so
  /// they are opened together, and again if somebody committed in between.
  func openNewest() throws(StorageError) -> any ReadTransaction {
    var own = try engine.beginRead()
    for attempt in 1...16 {
      var isSame = true
      for observingStore in observingStores.keys where observingStores[observingStore]?.place.takesTurns == true {
        let preparedRead = try engine.beginRead()
        observingStores[observingStore]?.preparedRead?.end()
        observingStores[observingStore]?.preparedRead = preparedRead
        if preparedRead.version != own.version { isSame = false }
      }
      if isSame || attempt == 16 { break }
      own.end()
      own = try engine.beginRead()
    }
    for observingStore in observingStores.keys {
      guard let preparedRead = observingStores[observingStore]?.preparedRead, preparedRead.version != own.version else { continue }
      preparedRead.end()
      observingStores[observingStore]?.preparedRead = nil
    }
    return own
  }
}
