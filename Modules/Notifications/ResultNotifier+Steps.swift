import ChangeTracker
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

// MARK: - Hearing of commits

extension ResultNotifier {
  /// A step is small while its rows, counted for each result, are no more than these: a turn takes it then.
  static let smallStepRows = 32

  /// There may be a newer version.
  package func wake() { wake(withPlaces: true) }

  /// Commits for this process. As `wake()`, without the way round by the bell, and the record is handed over as it is: a step over it
  /// decodes nothing.
  ///
  /// Contexts wake together with the notifier when the commit is small: whoever comes first takes the step. After others
  /// they wake when the step is under way.
  package func commit(
    _ write: RecordedTransaction, author: String?, timeMilliseconds: Int64, _ durability: Durability
  ) throws(StorageError) -> Version {
    commitsUnderWay.add(1, ordering: .sequentiallyConsistent)
    let version: Version
    do throws(StorageError) {
      version = try write.commit(author: author, timeMilliseconds: timeMilliseconds, durability)
    } catch {
      // The bell may have been rung for another's commit, or for this one: visible, but not on the disk.
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

  /// A commit of this process is over. Returns whether a bell rang that nobody has answered.
  private func endCommit() -> Bool {
    commitsUnderWay.subtract(1, ordering: .sequentiallyConsistent)
    return isBellUnanswered.exchange(false, ordering: .sequentiallyConsistent)
  }

  /// The bell rang. Commits of this process have asked for their step before, or do when they are over.
  func hearBell() {
    // Set before looking whether a commit is under way: its end either sees this, or has been seen here. Not unset below: another bell
    // may have set it too, and a look too many costs nothing.
    isBellUnanswered.store(true, ordering: .sequentiallyConsistent)
    if commitsUnderWay.load(ordering: .sequentiallyConsistent) > 0 { return }
    if let newest = try? engine.latestVersion(), newest.rawValue <= awaitedVersion.load(ordering: .acquiring) { return }
    wake()
  }

  private func wake(withPlaces: Bool) {
    if isStepDue.exchange(true, ordering: .acquiringAndReleasing) { return }
    // Contexts first: their turn takes a small step, and waits where the queue has begun it.
    if withPlaces { for place in placesToWake.withLock({ Array($0.values) }) { place.wake() } }
    queue.async { [weak self] in
      guard let self else { return }
      let deferredWork = lock.withLock { _ in
        // Cleared before the step looks: a commit after that asks for another one.
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
  /// Brings everything to the newest version.
  func advance() throws(StorageError) {
    defer { finish(takeDeferredWork()) }
    try step()
  }

  /// - Parameter wakesEarly: has contexts wake while this works: that takes about as long as a small step, and the turn waits for
  ///   the little that is left.
  private func step(wakesEarly: Bool = false) throws(StorageError) {
    guard let from = held, try engine.latestVersion() != from.version else { return }
    if wakesEarly { for place in sleepingPlaces { place.wake() } }
    let to = try openNewest()
    guard to.version != from.version else { return to.end() }
    try step(from, to, try records(from: from, to: to))
  }

  /// Takes the step that is due, if it is small. A turn that came for the outcome of the step calls this, instead of waiting for
  /// another thread to wake and do the same. Other steps are left to the notifier's queue, as are errors.
  func takeSmallStep() {
    // Known before anything is opened for it.
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

  /// - Parameter records: the commits between the two; nil when they are not known.
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

  /// Everything is kept at this version from now on.
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

  /// Observers first; letting go of what a version had read takes time.
  private func finish(_ deferredWork: DeferredWork) {
    for place in deferredWork.places { place.wake() }
    for reading in deferredWork.ended { reading.end() }
  }

  /// Nothing of what is kept or watched can be any more: all of it has an error to report, and nothing else.
  func fail(_ error: StorageError) {
    for result in results.values { fail(result, error) }
    for watch in watches.values.flatMap({ $0.values.joined() }) {
      watch.fail(error)
      touch(watch)
    }
    // Nobody is notified of a version, and a store that has moved on by itself is not behind one. Whoever comes begins anew.
    held?.end()
    held = nil
    for observingStore in observingStores.values { observingStore.place.wake() }
  }

  /// The same of one result.
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
  /// The commits between two versions; nil when they are not known any more, and when a migration is among them: what is
  /// kept was made for the old columns, and a newer program asks the same question of the new ones.
  func records(
    from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> [CommitRecord]? {
    let (old, new) = (from.catalog, to.catalog)
    guard old.schemaVersion == new.schemaVersion, old.completedMigrations == new.completedMigrations else { return nil }
    guard let records = try self.records(after: from.version, in: to), try !records.nameMore(thanIn: from, to) else { return nil }
    return records
  }

  /// The commits after a version, up to the one that is read; nil when they are not known any more. Those of this process are at hand.
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

  /// The newest version, for the notifier and for each store that takes turns: there is no way to open a version that is
  /// not the newest, so they are opened together and again when somebody committed in between.
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
