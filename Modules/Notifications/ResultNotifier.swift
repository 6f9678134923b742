import ChangeTracker
import Dispatch
import Storage
import Synchronization
import Values

/// Keeps every observed result of one open engine at its newest version, and knows what each observer is to be told.
///
/// It works on a queue of its own. Observers' contexts only fetch what is ready for them: a state of a result is handed
/// over in O(1), a change set costs what changed. It reads one version, the newest, and keeps no older one for anybody: what
/// a context that does not run has missed is kept as net changes, bounded by the rows. Safe from any thread.
package final class ResultNotifier: @unchecked Sendable {
  // Sound because every stored property after `lock` is read and written inside `lock.withLock` alone, and so is every
  // call of the classes in them that are not Sendable: `KeptResult`, its upkeep, and `KnownState`.
  let engine: any StorageEngine
  let queue = DispatchQueue(label: "vivarium.notifier")
  private let isAdvancePending = Atomic(false)
  let lock = Mutex(())

  /// The version at which everything is kept; nil while nothing is.
  var held: (any ReadTransaction)?
  var results: [AnyHashable: KeptResult] = [:]
  /// Observed objects and lists, by the object.
  var watches: [TableID: [Int64: [ObjectWatch]]] = [:]
  /// Those of them that look further than the object.
  var deepWatches: [ObjectWatch] = []
  var seats: [ObjectIdentifier: Seat] = [:]
  private var listener: (any CommitListener)?
  private var workDone = Work()

  /// An open store that observes.
  struct Seat {
    let place: DeliveryPlace
    var observations = 0
    /// The notifier's version, opened for the store's next turn.
    var standby: (any ReadTransaction)?
    /// Its watches that may have something to tell.
    var touched: [ObjectWatch] = []
  }

  /// Counts of work, never of time.
  package struct Work: Sendable, Hashable {
    /// How often a question was asked of all objects: first results, and again where one is not kept row by row.
    package var evaluations = 0
    /// How often commits changed a row or the order of a result.
    package var steps = 0
    /// How often a view had to be made anew.
    package var rebuilds = 0
    /// Rows tested one by one.
    package var rowsTested = 0
    /// Results that are kept now.
    package var results = 0
    /// Objects and lists that are watched now, once for each token.
    package var watches = 0
    /// Stores for which anything is kept or watched now.
    package var places = 0
  }

  package init(_ engine: any StorageEngine) { self.engine = engine }

  deinit { listener?.stop() }

  /// What was done so far.
  package var work: Work {
    lock.withLock { _ in
      var work = workDone
      work.results = results.count
      work.watches = watches.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
      work.places = seats.count
      for result in results.values {
        work.evaluations += result.evaluations
        work.rowsTested += result.work.rowsTested
      }
      return work
    }
  }

  /// Blocks until everything that was asked for before is done. For tests.
  package func finish() { queue.sync {} }
}

// MARK: - Observing

extension ResultNotifier {
  /// Begins an observation. Returns at once; the first result is made on the notifier's queue, and the place wakes when it
  /// is there.
  package func observe(_ recipe: ResultRecipe, _ filter: ResultFilter, at place: DeliveryPlace) -> ResultObservation {
    let observation = ResultObservation(recipe, filter, place)
    place.startsPending.add(1, ordering: .acquiringAndReleasing)
    queue.async { self.start(observation) }
    return observation
  }

  /// Ends an observation, from any thread, without waiting for anything.
  package func stop(_ observation: ResultObservation) {
    guard observation.end() else { return }
    queue.async { self.lock.withLock { _ in self.detach(observation) } }
  }

  private func start(_ observation: ResultObservation) {
    defer {
      observation.place.startsPending.subtract(1, ordering: .acquiringAndReleasing)
      observation.place.wake()
    }
    if observation.isEnded { return }
    do throws(StorageError) {
      try listen()
      if lock.withLock({ _ in attach(observation) }) { return }
      let reading = try engine.beginRead()
      let made = try KeptResult(observation.recipe, in: reading)
      try lock.withLock { _ throws(StorageError) in
        workDone.evaluations += 1
        try keep(made, madeIn: reading)
        _ = attach(observation)
        // The token was stopped meanwhile, and so nobody ever lets go of the result.
        if made.observations.isEmpty { drop(made) }
        restIfIdle()
      }
    } catch {
      observation.fail(error)
    }
  }

  func listen() throws(StorageError) {
    if lock.withLock({ _ in listener != nil }) { return }
    let made = try engine.addCommitListener { [weak self] in self?.wake() }
    lock.withLock { _ in listener = made }
  }

  /// False when the result is not kept yet.
  private func attach(_ observation: ResultObservation) -> Bool {
    guard let result = results[AnyHashable(observation.recipe.identity)] else { return false }
    if observation.isEnded { return true }
    result.attach(observation)
    seats[ObjectIdentifier(observation.place), default: Seat(place: observation.place)].observations += 1
    return true
  }

  private func detach(_ observation: ResultObservation) {
    let identity = AnyHashable(observation.recipe.identity)
    guard let result = results[identity], result.isObserved(by: observation) else { return }
    result.detach(observation)
    if result.observations.isEmpty { drop(result) }
    leave(observation.place)
  }

  func leave(_ place: DeliveryPlace) {
    giveUpSeat(at: place)
    restIfIdle()
  }

  private func giveUpSeat(at place: DeliveryPlace) {
    let seat = ObjectIdentifier(place)
    seats[seat]?.observations -= 1
    if let left = seats[seat], left.observations <= 0 {
      left.standby?.end()
      seats[seat] = nil
    }
  }

  /// Holds no version and hears of no commit while there is nobody to tell.
  private func restIfIdle() {
    guard results.isEmpty, watches.isEmpty else { return }
    held?.end()
    held = nil
    listener?.stop()
    listener = nil
  }

  private func drop(_ result: KeptResult) {
    workDone.evaluations += result.evaluations
    workDone.rowsTested += result.work.rowsTested
    results[AnyHashable(result.recipe.identity)] = nil
  }

  /// Takes a result that was made outside the lock to the version of the others.
  private func keep(_ made: KeptResult, madeIn reading: any ReadTransaction) throws(StorageError) {
    if held == nil {
      held = reading
    } else {
      defer { reading.end() }
      try advance()
      try take(made, madeIn: reading)
    }
    results[AnyHashable(made.recipe.identity)] = made
  }

  private func take(_ made: KeptResult, madeIn reading: any ReadTransaction) throws(StorageError) {
    guard let held, held.version > reading.version else { return }
    guard let records = try ResultNotifier.records(after: reading.version, in: held) else {
      return try made.rebuild(in: held, by: nil)
    }
    _ = try made.step(records, from: reading, to: held)
  }
}

// MARK: - Commits

extension ResultNotifier {
  /// There may be a newer version.
  package func wake() {
    if isAdvancePending.exchange(true, ordering: .acquiringAndReleasing) { return }
    queue.async { [weak self] in
      guard let self else { return }
      isAdvancePending.store(false, ordering: .releasing)
      lock.withLock { _ in
        do throws(StorageError) { try self.advance() } catch { self.fail(error) }
        self.restIfIdle()
      }
    }
  }

  private func fail(_ error: StorageError) {
    for result in results.values { fail(result, error) }
    for watch in watches.values.flatMap({ $0.values.joined() }) {
      watch.fail(error)
      touch(watch)
    }
    for seat in seats.values { seat.place.wake() }
  }

  private func fail(_ result: KeptResult, _ error: StorageError) {
    for observation in result.observations {
      observation.fail(error)
      observation.place.wake()
      giveUpSeat(at: observation.place)
    }
    drop(result)
  }

  /// The commits after a version, up to the one that is read; nil when they are not known any more.
  static func records(
    after version: Version, in reading: any StorageReading
  ) throws(StorageError) -> [CommitRecord]? {
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

  /// Brings everything to the newest version.
  func advance() throws(StorageError) {
    guard let from = held, try engine.latestVersion() != from.version else { return }
    let to = try openNewest()
    guard to.version != from.version else { return to.end() }
    let records = try ResultNotifier.records(after: from.version, in: to)
    for result in results.values {
      do throws(StorageError) {
        if let records {
          guard let step = try result.step(records, from: from, to: to) else { continue }
          result.add(step, by: records)
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
    held = to
    from.end()
    for seat in seats.values { seat.place.wake() }
  }

  /// The newest version, for the notifier and for each store that takes turns: there is no way to open a version that is
  /// not the newest, so they are opened together and again when somebody committed in between.
  private func openNewest() throws(StorageError) -> any ReadTransaction {
    var own = try engine.beginRead()
    for attempt in 1...16 {
      var isSame = true
      for seat in seats.keys where seats[seat]?.place.takesTurns == true {
        let standby = try engine.beginRead()
        seats[seat]?.standby?.end()
        seats[seat]?.standby = standby
        if standby.version != own.version { isSame = false }
      }
      if isSame || attempt == 16 { break }
      own.end()
      own = try engine.beginRead()
    }
    for seat in seats.keys {
      guard let standby = seats[seat]?.standby, standby.version != own.version else { continue }
      standby.end()
      seats[seat]?.standby = nil
    }
    return own
  }
}

// MARK: - Delivery

/// What a store is to do in a turn.
package enum ResultDelivery: Sendable {
  /// Nothing yet: another turn will come.
  case later
  /// No result is kept, so none ties the store to a version. Offers of errors may be there.
  case free([ResultOffer?])
  /// Move to the transaction's version, if there is one, and take the offers: those of objects and lists, then those of
  /// results, which stand in the order of the observations. `results` are what these results are there, in the same order.
  case ready((any ReadTransaction)?, [WatchOffer], [ResultOffer?], results: [ResultVersion?])
}

extension ResultNotifier {
  /// Fetches what a store's observers are to be told. `current` is what the store reads now. With `waits` everything that
  /// was asked for and committed is in it, which may take as long as a query does; without, it never blocks. A store that
  /// must not move is told what there is at the version it has.
  package func delivery(
    at place: DeliveryPlace, _ observations: [ResultObservation], current: any ReadTransaction, mayMove: Bool = true,
    waits: Bool
  ) throws(StorageError) -> ResultDelivery {
    if waits {
      if place.startsPending.load(ordering: .acquiring) > 0 { queue.sync {} }
      return try lock.withLock { _ throws(StorageError) in
        for _ in 0..<100 {
          try advance()
          let delivery = try prepare(place, observations, current, mayMove)
          if case .later = delivery { continue }
          return delivery
        }
        return .later
      }
    }
    let delivery = try lock.withLockIfAvailable { _ throws(StorageError) in
      try prepare(place, observations, current, mayMove)
    }
    if let delivery { return delivery }
    queue.async { place.wake() }
    return .later
  }

  private func prepare(
    _ place: DeliveryPlace, _ observations: [ResultObservation], _ current: any ReadTransaction, _ mayMove: Bool
  ) throws(StorageError) -> ResultDelivery {
    let failures = observations.map { observation in
      observation.failure.map { observation.offer(.failed($0), nil, at: current.version) }
    }
    guard let held else { return .free(failures) }
    guard held.version >= current.version else { return .later }
    var transaction: (any ReadTransaction)?
    if held.version > current.version {
      guard mayMove else { return .later }
      transaction = seats[ObjectIdentifier(place)]?.standby
      seats[ObjectIdentifier(place)]?.standby = nil
      if transaction?.version != held.version {
        transaction?.end()
        transaction = try engine.beginRead()
      }
      guard transaction?.version == held.version else {
        transaction?.end()
        return .later
      }
    }
    let reading = transaction ?? current
    var offers = failures
    var versions: [ResultVersion?] = []
    for (i, observation) in observations.enumerated() {
      let result = results[AnyHashable(observation.recipe.identity)]
      versions.append(result?.current)
      guard offers[i] == nil, !observation.isEnded, let result, result.isObserved(by: observation) else { continue }
      do throws(StorageError) {
        offers[i] = try result.offer(to: observation, at: held.version, reading)
      } catch {
        observation.fail(error)
        offers[i] = observation.offer(.failed(error), nil, at: held.version)
      }
    }
    return .ready(transaction, try watchOffers(of: place, at: held.version, reading), offers, results: versions)
  }
}

extension ResultNotifier {
  /// What an observed result is at a version, brought there if need be; nil when it is not kept, or is ahead already.
  /// O(change).
  package func state(of identity: any Hashable & Sendable, at version: Version) -> ResultVersion? {
    lock.withLock { _ in
      guard let result = results[AnyHashable(identity)] else { return nil }
      if let held, held.version < version { try? advance() }
      return held?.version == version ? result.current : nil
    }
  }
}

// MARK: - Skipping

extension ResultNotifier {
  /// Commits an open write of whose changes some tokens are not told: what they know is brought to its result. Exact also
  /// while earlier changes wait to be delivered to them.
  ///
  /// `commit` is called once; when it throws, nobody is told of anything.
  package func commit(
    _ write: any WriteTransaction, _ record: CommitRecord, skipping observations: [ResultObservation],
    watches skippedWatches: [ObjectWatch] = [], _ commit: () throws(StorageError) -> Version
  ) throws(StorageError) -> Version {
    try lock.withLock { _ throws(StorageError) in
      // The writer's lock is held: nothing is newer than what the write began from, or will be before it is over.
      try advance()
      guard let from = held, from.version == write.version else { return try commit() }
      var steps: [(KeptResult, ResultStep)] = []
      var torn: [KeptResult] = []
      for result in results.values {
        do throws(StorageError) {
          if let step = try result.step([record], from: from, to: write) { steps.append((result, step)) }
        } catch {
          torn.append(result)
        }
      }
      let version: Version
      do throws(StorageError) {
        version = try commit()
      } catch {
        for (result, _) in steps { rebuild(result, in: from, by: []) }
        throw error
      }
      for (result, step) in steps {
        result.add(step, by: [record], skipping: observations)
        workDone.steps += 1
      }
      do throws(StorageError) {
        try settle(at: version, from, torn, record, skippedWatches)
      } catch {
        fail(error)
      }
      return version
    }
  }

  /// Reads the version that was just committed from now on; or a later one, if another process was faster.
  private func settle(
    at version: Version, _ from: any ReadTransaction, _ torn: [KeptResult], _ record: CommitRecord,
    _ skipped: [ObjectWatch]
  ) throws(StorageError) {
    let to = try openNewest()
    try note([record], from: from, to: to)
    for watch in skipped { try watch.skip(to) }
    if to.version != version { try note(try ResultNotifier.records(after: version, in: to), from: to, to: to) }
    held = to
    from.end()
    if to.version == version {
      for result in torn { rebuild(result, in: to, by: [record]) }
    } else {
      let records = try ResultNotifier.records(after: version, in: to)
      for result in results.values { rebuild(result, in: to, by: records) }
    }
    for seat in seats.values { seat.place.wake() }
  }

  private func rebuild(_ result: KeptResult, in reading: any StorageReading, by records: [CommitRecord]?) {
    workDone.rebuilds += 1
    do throws(StorageError) { try result.rebuild(in: reading, by: records) } catch { fail(result, error) }
  }
}
