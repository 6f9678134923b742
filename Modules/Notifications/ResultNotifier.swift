import ChangeTracker
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

// The states of the notifier and their transitions:
//
//   resting    nothing is observed: no version is held, and no commit heard of
//      | observe: `start` on `queue` makes the first result without the lock, and takes it in under it; the watch of an object is begun
//      | by a write of its store that comes before
//   kept       all of it is at the version `held`; commits ring the bell or are made by `commit`
//      | a commit: `isStepDue`, once however many there are
//   due        a step waits: a small one for a context (`stepIfSmall`), for a while; else for `queue`
//      | `advance`: what has to be asked as a whole is asked without the lock; then, under it, results, then watches, then `held` is the
//      | newest version; places are woken
//   kept       each place takes a turn in its own time, and fetches offers in it (`delivery`); an offer that is not accepted before a
//              later one is made reports nothing, and the later one reports both
//      | the last observation ends: `restIfIdle`
//   resting
//
// A read error ends the observations it affects (`fail`): they report the error, and new observations begin at `resting`.
//
// What each lock guards, and the order of acquisition:
//
//   `steps`                    who moves `held`, or ends it, and reads the version that it holds. Long work is done under it, as
//                              questions that are asked again, and a commit that skips observers with its sync: turns and reads only try it
//   `lock`                     everything of the notifier after it: what is kept, watched, held, prepared for turns, and due afterwards;
//                              only for as long as the changes take. Turns, reads and commits only try it
//   `ObjectWatch.state`,       what one token was notified of, is offered and has pending; inside `lock` or alone, in a turn that accepts
//   `ResultObservation`'s
//   `placesToWake`             who is to be woken; alone, so that a commit never waits for a step
//   `startingWatches`          watches that nobody has begun; alone to add one, so that observing never waits for a step, and else
//                              inside `lock`, so that whoever takes one out begins it before anybody else looks
//   `OwnRecords`'s             the latest commits of this process; alone, or inside `lock`
//   `PendingTurn`              atomics alone: whether a turn was asked for
//
// The lock of a place is never held while the notifier's is acquired, nor is any held while a block runs.
// `commit(_:_:skipping:)` acquires the writer's lock before `steps`; nobody who holds `steps` or `lock` waits for the writer's.

/// Keeps every observed result of one open engine at its newest version, and knows the pending notifications of each observer.
///
/// It works on its own queue. Observers' contexts only fetch what is ready: a state of a result in O(1), a change set at the
/// cost of the changes. It reads one version, the newest, and keeps no older one: what a context that does not run has missed
/// is kept as net changes, bounded by the rows. Safe from any thread.
package final class ResultNotifier: @unchecked Sendable {
  // Sound because every stored property after `lock` is read and written only inside `lock.withLock`, and so is every call of
  // the classes in them that are not Sendable: `KeptResult`, its upkeep, and `KnownState`. A `KeptResult` that is made without the
  // lock is nobody else's until it is taken in under it.
  let engine: any StorageEngine
  /// Tells those who observe no result of the commits that are made here.
  let commits: CommitNotifier
  package let queue = DispatchQueue(label: "vivarium.notifier")
  /// There may be a newer version, and nobody has begun the step to it.
  let isStepDue = Atomic(false)
  /// The queue will take the due step as soon as it can, or in a while if no turn has taken it.
  let isStepRequested = Atomic(false)
  let isWatchingOverTurns = Atomic(false)
  /// Whether steps could be small when last somebody looked: a bell may ring on any thread, and so takes no lock.
  let turnsTakeSteps = Atomic(true)
  /// The newest version for which a step was requested or taken: a bell for it needs no action.
  let awaitedVersion = Atomic<UInt64>(0)
  /// Commits of this process that have begun and are not handed over: a bell meanwhile is theirs, or is answered after them.
  let commitsUnderWay = Atomic(0)
  let isBellUnanswered = Atomic(false)
  /// Whether the engine's commits are listened to: something is kept, or about to be.
  let isListening = Atomic(false)
  /// The places with observations, to be woken without the lock.
  let placesToWake = Mutex<[ObjectIdentifier: DeliveryPlace]>([:])
  /// The watches that were asked for and have not begun, each under its identity.
  let startingWatches = Mutex<[ObjectIdentifier: ObjectWatch]>([:])
  let steps = Mutex(())
  /// Versions that steps in contexts have left to the queue to release, as groups.
  let readingsToEnd = Atomic(0)
  /// Reads of the engine's history, which need no lock.
  let historyReads = Atomic(0)
  let ownRecords = OwnRecords()
  let lock = Mutex(())

  /// The version at which everything is kept; nil if nothing is.
  var held: (any ReadTransaction)?
  /// The version from which the due step was found not to be small: others need not look at it again.
  var largeStepFrom: Version?
  var results: [AnyHashable: KeptResult] = [:]
  /// Observed objects and lists, by object.
  var watches: [TableID: [Int64: [ObjectWatch]]] = [:]
  /// Those that follow paths beyond the object.
  var deepWatches: [ObjectWatch] = []
  var observingStores: [ObjectIdentifier: ObservingStore] = [:]
  /// The result of each observation, to be found without comparing questions.
  var observed: [ObjectIdentifier: KeptResult] = [:]
  private var listener: (any CommitListener)?
  var workDone = Work()
  /// Work to do after a step, without the lock: observers do not depend on it.
  var deferredWork = DeferredWork()
  /// A commit that skips observers and is not over: results may already be what it leads to, so nobody is offered anything meanwhile.
  var skippingCommit: SkippingCommit?

  /// An open store with observations.
  struct ObservingStore {
    let place: DeliveryPlace
    var observations = 0
    /// The notifier's version, opened for the store's next turn.
    var preparedRead: (any ReadTransaction)?
    /// Its watches that may have something to report, each under its identity.
    var touched: [ObjectIdentifier: ObjectWatch] = [:]
  }

  struct DeferredWork {
    var places: [DeliveryPlace] = []
    var ended: [any ReadTransaction] = []
  }

  /// Counts of work, never of time.
  package struct Work: Sendable, Hashable {
    /// Evaluations over all objects: first results, and repeated ones if a result is not kept row by row.
    package var evaluations = 0
    /// Commits, or groups of them, that changed a row or the order of a result.
    package var steps = 0
    /// Those steps that a context took, in its turn or for a read.
    package var stepsInTurns = 0
    /// Rebuilt views.
    package var rebuilds = 0
    /// Reads of the engine's history: for commits of other processes, and for those of this one that are no longer kept.
    package var historyReads = 0
    /// Rows tested one by one.
    package var rowsTested = 0
    /// Observed objects and collections that were tested one by one, because a commit touched their object.
    package var watchesTested = 0
    /// Entries of commits that were looked at to find those of observed objects.
    package var searchSteps = 0
    /// Values read to keep totals, excluding the initial ones.
    package var valuesRead = 0
    /// Currently kept results.
    package var results = 0
    /// Currently watched objects and lists, once per token.
    package var watches = 0
    /// Stores with kept results or watches.
    package var places = 0
  }

  package init(_ engine: any StorageEngine, _ commits: CommitNotifier) { (self.engine, self.commits) = (engine, commits) }

  deinit { listener?.stop() }

  /// The work done so far.
  package var work: Work {
    lock.withLock { _ in
      var work = workDone
      work.results = results.count
      work.watches = watches.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
      work.places = observingStores.count
      work.historyReads = historyReads.load(ordering: .relaxed)
      for result in results.values {
        work.evaluations += result.evaluations
        work.rowsTested += result.work.rowsTested
        work.valuesRead += result.valuesRead
      }
      return work
    }
  }

  /// Blocks until everything requested before is done. For tests.
  package func finish() { queue.sync { if isStepDue.load(ordering: .acquiring) { takeDueStep() } } }
}

// MARK: - Observing

extension ResultNotifier {
  /// Begins an observation. Returns at once; the first result is made on the notifier's queue, and the place is woken when it
  /// is ready.
  package func observe(_ recipe: ResultRecipe, _ filter: ResultFilter, at place: DeliveryPlace) -> ResultObservation {
    let observation = ResultObservation(recipe, filter, place)
    place.startsPending.add(1, ordering: .acquiringAndReleasing)
    queue.async { self.start(observation) }
    return observation
  }

  /// Ends an observation, from any thread, without waiting.
  package func stop(_ observation: ResultObservation) {
    guard observation.end() else { return }
    queue.async {
      self.lock.withLock { _ in self.detach(observation) }
      self.restIfIdle()
    }
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
      try steps.withLock { _ throws(StorageError) in try keep(made, madeIn: reading, for: observation) }
      restIfIdle()
    } catch {
      observation.fail(error)
    }
  }

  /// Takes in a result that nobody else has yet, at the version of the others. Call with `steps`.
  private func keep(
    _ made: KeptResult, madeIn reading: any ReadTransaction, for observation: ResultObservation
  ) throws(StorageError) {
    let isFirst = lock.withLock { _ in
      guard held == nil else { return false }
      held = reading
      return true
    }
    if !isFirst {
      defer { reading.end() }
      try advance()
      try take(made, madeIn: reading)
    }
    lock.withLock { _ in
      workDone.evaluations += 1
      results[AnyHashable(made.recipe.identity)] = made
      _ = attach(observation)
      // The token was stopped meanwhile, so nobody would release the result.
      if made.observations.isEmpty { drop(made) }
    }
  }

  private func take(_ made: KeptResult, madeIn reading: any ReadTransaction) throws(StorageError) {
    guard let held = lock.withLock({ _ in held }), held.version > reading.version else { return }
    guard let records = try self.records(from: reading, to: held), try !made.isRebound(by: records, in: held) else {
      return try made.rebuild(in: held, by: nil)
    }
    _ = try made.step(records, from: reading, to: held)
  }

  func listen() throws(StorageError) {
    if lock.withLock({ _ in listener != nil }) { return }
    // Before the version is read from which something is kept: a commit after it asks for a step.
    isListening.store(true, ordering: .sequentiallyConsistent)
    let made = try engine.addCommitListener(unless: { [teller = commits.teller] in teller.isTelling }) { [weak self] in self?.hearBell() }
    lock.withLock { _ in listener = made }
  }

  /// False if the result is not kept yet.
  private func attach(_ observation: ResultObservation) -> Bool {
    guard let result = results[AnyHashable(observation.recipe.identity)] else { return false }
    if observation.isEnded { return true }
    result.attach(observation)
    observed[ObjectIdentifier(observation)] = result
    addStore(at: observation.place)
    return true
  }

  /// Removes an observation from its result, which is dropped with the last one. Idempotent.
  func detach(_ observation: ResultObservation) {
    guard let result = observed.removeValue(forKey: ObjectIdentifier(observation)) else { return }
    result.detach(observation)
    if result.observations.isEmpty { drop(result) }
    removeStore(at: observation.place)
  }

  /// Registers an additional observation at a place.
  func addStore(at place: DeliveryPlace) {
    let observingStore = ObjectIdentifier(place)
    observingStores[observingStore, default: ObservingStore(place: place)].observations += 1
    placesToWake.withLock { $0[observingStore] = place }
  }

  func removeStore(at place: DeliveryPlace) {
    let observingStore = ObjectIdentifier(place)
    observingStores[observingStore]?.observations -= 1
    if let left = observingStores[observingStore], left.observations <= 0 {
      left.preparedRead?.end()
      observingStores[observingStore] = nil
      placesToWake.withLock { $0[observingStore] = nil }
    }
  }

  /// Releases the version and stops listening while there is nobody to notify. Not under a lock.
  func restIfIdle() {
    // Looked at first: who has `steps` may have it for as long as a commit takes.
    guard lock.withLock({ _ in isIdle }) else { return }
    steps.withLock { _ in lock.withLock { _ in rest() } }
  }

  private var isIdle: Bool { results.isEmpty && watches.isEmpty }

  private func rest() {
    guard isIdle else { return }
    held?.end()
    held = nil
    listener?.stop()
    listener = nil
    isListening.store(false, ordering: .sequentiallyConsistent)
    ownRecords.clear()
  }

  func drop(_ result: KeptResult) {
    workDone.evaluations += result.evaluations
    workDone.rowsTested += result.work.rowsTested
    workDone.valuesRead += result.valuesRead
    results[AnyHashable(result.recipe.identity)] = nil
    for observation in result.observations { observed[ObjectIdentifier(observation)] = nil }
  }
}
