import ChangeTracker
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

extension ResultNotifier {
  /// Advances everything to the newest version, for who needs it there, and ends all of it if that fails. Call with `steps`, and without
  /// `lock`.
  func catchUp(wakesEarly: Bool = false) {
    // Cleared before the step looks: a later commit makes another one due. If nothing is held, what is being begun may be older than the
    // due version, and the step must follow it.
    if lock.withLock({ _ in held != nil }) { _ = isStepDue.exchange(false, ordering: .acquiringAndReleasing) }
    do throws(StorageError) { try advance(wakesEarly: wakesEarly) } catch { lock.withLock { _ in fail(error) } }
  }

  /// Advances everything to the newest version. Call with `steps`, and without `lock`.
  ///
  /// - Parameter wakesEarly: wakes contexts before results are advanced: waking takes about as long as a small step, and the turn waits
  ///   for the little that is left.
  func advance(wakesEarly: Bool = false) throws(StorageError) {
    guard let from = lock.withLock({ _ in held }), try engine.latestVersion() != from.version else { return }
    let to = try openNewest(for: lock.withLock { _ in placesTakingTurns })
    guard to.version != from.version else { return to.end() }
    let records = try self.records(from: from, to: to.own)
    let answers = answers(to: lock.withLock { _ in questions(touchedBy: records) }, in: to.own)
    if wakesEarly { for place in lock.withLock({ _ in sleepingPlaces }) { place.wake() } }
    let deferredWork = try lock.withLock { _ throws(StorageError) in
      try step(from, to, records, answers)
      return takeDeferredWork()
    }
    finish(deferredWork)
  }

  /// - Parameter records: the commits between the two; nil if unknown.
  func step(
    _ from: any ReadTransaction, _ to: NewestVersion, _ records: [CommitRecord]?, _ answers: Answers
  ) throws(StorageError) {
    for result in results.values {
      do throws(StorageError) {
        if try advance(result, from, to.own, records, answers) { workDone.steps += 1 }
      } catch {
        fail(result, error)
      }
    }
    try note(records, from: from, to: to.own)
    hold(to)
    deferredWork.ended.append(from)
    deferredWork.places += sleepingPlaces
  }

  /// False if nothing touched the result.
  private func advance(
    _ result: KeptResult, _ from: any ReadTransaction, _ to: any ReadTransaction, _ records: [CommitRecord]?, _ answers: Answers
  ) throws(StorageError) -> Bool {
    let answer = try answers[result]
    guard let records else {
      try result.rebuild(in: to, by: nil, answer)
      workDone.rebuilds += 1
      return true
    }
    if try result.isRebound(by: records, in: to) {
      try result.rebind(records, from: from, to: to, answer)
      workDone.rebuilds += 1
      return true
    }
    guard let step = try result.step(records, from: from, to: to, answer) else { return false }
    try result.add(step, by: records, (from, to))
    return true
  }

  /// Makes this the version at which everything is kept.
  func hold(_ reading: NewestVersion) {
    held = reading.own
    awaitedVersion.max(reading.version.rawValue, ordering: .acquiringAndReleasing)
    for (observingStore, prepared) in reading.prepared {
      observingStores[observingStore]?.preparedRead?.end()
      observingStores[observingStore]?.preparedRead = nil
      // Its last observation may have ended meanwhile, and a read of a later version is of no use to its turn.
      if observingStores[observingStore] != nil, prepared.version == reading.version {
        observingStores[observingStore]?.preparedRead = prepared
      } else {
        prepared.end()
      }
    }
  }

  /// Places that are not about to look by themselves.
  private var sleepingPlaces: [DeliveryPlace] {
    observingStores.values.map(\.place).filter { !$0.isLooking.load(ordering: .acquiring) }
  }

  func takeDeferredWork() -> DeferredWork {
    defer { deferredWork = DeferredWork() }
    return deferredWork
  }

  /// Wakes observers first, because releasing what a version had read takes time.
  func finish(_ deferredWork: DeferredWork) {
    for place in deferredWork.places { place.wake() }
    for reading in deferredWork.ended { reading.end() }
  }

  /// The same in a context, whose own observers are told next: the queue releases. It may have no time for long, and an engine may know
  /// no more than some dozens of readers, so that few are left to it.
  func finishInContext(_ deferredWork: DeferredWork) {
    if deferredWork.ended.isEmpty || readingsToEnd.load(ordering: .relaxed) >= 4 { return finish(deferredWork) }
    for place in deferredWork.places { place.wake() }
    readingsToEnd.add(1, ordering: .relaxed)
    queue.async { [self] in
      for reading in deferredWork.ended { reading.end() }
      readingsToEnd.subtract(1, ordering: .relaxed)
    }
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
  /// for the old columns, and a newer program asks the same question of the new ones. `limit` as below.
  func records(
    from: any StorageReading, to: any StorageReading, upTo limit: Int? = nil
  ) throws(StorageError) -> [CommitRecord]? {
    let (old, new) = (from.catalog, to.catalog)
    guard old.schemaVersion == new.schemaVersion, old.completedMigrations == new.completedMigrations else { return nil }
    guard let records = try self.records(after: from.version, in: to, upTo: limit) else { return nil }
    return try records.nameMore(thanIn: from, to) ? nil : records
  }

  /// The commits after a version, up to the one that is read; nil if they are no longer known. Those of this process are in
  /// memory. With a limit also nil if the step over them costs more: no more than the first that are too much are read.
  func records(
    after version: Version, in reading: any StorageReading, upTo limit: Int? = nil
  ) throws(StorageError) -> [CommitRecord]? {
    if let own = ownRecords.records(after: version, to: reading.version) { return own }
    historyReads.add(1, ordering: .relaxed)
    var records: [CommitRecord] = []
    var left = limit ?? .max
    do throws(StorageError) {
      try reading.history(after: version) { record in
        records.append(record)
        if let limit { left -= CollectionOfOne(record).costOfStep(upTo: limit) }
        return left < 0 ? .stop : .proceed
      }
    } catch {
      if error.code == .historyTrimmed { return nil }
      throw error
    }
    return left < 0 ? nil : records
  }

  /// The newest version, opened for the notifier and for some places.
  struct NewestVersion {
    fileprivate(set) var own: any ReadTransaction
    fileprivate(set) var prepared: [ObjectIdentifier: any ReadTransaction] = [:]

    var version: Version { own.version }

    func end() {
      own.end()
      for reading in prepared.values { reading.end() }
    }
  }

  /// The stores whose turns happen by themselves.
  var placesTakingTurns: [ObjectIdentifier] { observingStores.filter { $0.value.place.takesTurns }.map(\.key) }

  /// Opens the newest version for the notifier and for each store that takes turns. Only the newest version can be opened, so
  /// they are opened together, and again if somebody committed in between.
  func openNewest(for places: [ObjectIdentifier]) throws(StorageError) -> NewestVersion {
    var newest = NewestVersion(own: try engine.beginRead())
    for attempt in 1...16 {
      for place in places {
        newest.prepared.updateValue(try engine.beginRead(), forKey: place)?.end()
      }
      if attempt == 16 || newest.prepared.values.allSatisfy({ $0.version == newest.version }) { break }
      newest.own.end()
      newest.own = try engine.beginRead()
    }
    return newest
  }
}
