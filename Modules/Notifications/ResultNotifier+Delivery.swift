import ChangeTracker
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

/// The outcome of a store's turn.
package enum ResultDelivery: Sendable {
  /// Nothing yet: another turn will follow.
  case later
  /// No result is kept, so none ties the store to a version. There may be offers with errors.
  case free([WatchOffer], [ResultOffer?])
  /// Move to the transaction's version, if there is one, and take the offers: those of objects and lists, then those of
  /// results, in the order of the observations. `results` are the states of these results at that version, in the same order.
  case ready((any ReadTransaction)?, [WatchOffer], [ResultOffer?], results: [ResultVersion?])
}

extension ResultNotifier {
  /// How long a store waits for its observers' pending changes.
  package enum Patience: Sendable {
    /// Not at all: it gets what is ready.
    case none
    /// Until all commits are included.
    case commits
    /// Until all requested observations are included too, which may take as long as a query.
    case firstResults
  }

  /// Fetches the pending changes for a store's observers. `current` is the store's transaction. A store that must not move gets
  /// the changes up to its own version. Changes for `resting` watches stay pending.
  package func delivery(
    at place: DeliveryPlace, _ observations: [ResultObservation], resting: Set<ObjectIdentifier> = [],
    current: any ReadTransaction, mayMove: Bool = true, _ patience: Patience
  ) throws(StorageError) -> ResultDelivery {
    if patience != .none {
      // A place without automatic turns would not learn of its first results.
      if patience == .firstResults || !place.takesTurns { settleStarts([place]) }
      return try steps.withLock { _ throws(StorageError) in
        beginLateWatches(at: place)
        for _ in 0..<100 {
          // An error that ends all upkeep is reported by this delivery, as it is when the queue encounters it.
          catchUp()
          let delivery = try lock.withLock { _ throws(StorageError) in try prepare(place, observations, resting, current, mayMove) }
          if case .later = delivery { continue }
          return delivery
        }
        return .later
      }
    }
    return try look(at: place, observations, resting, current, mayMove)
  }

  /// Fetches what is ready, after a due step if it is small. Waits for changes being taken in, but no longer than a small step takes.
  private func look(
    at place: DeliveryPlace, _ observations: [ResultObservation], _ resting: Set<ObjectIdentifier>,
    _ current: any ReadTransaction, _ mayMove: Bool
  ) throws(StorageError) -> ResultDelivery {
    place.isLooking.store(true, ordering: .releasing)
    let looked = withLockSoon { () -> (delivery: Result<ResultDelivery, StorageError>, deferredWork: DeferredWork)? in
      takeSmallStep()
      // Later changes wake the place again.
      place.isLooking.store(false, ordering: .releasing)
      let deferredWork = takeDeferredWork()
      // Others are told of the step, whether or not this place can be.
      return (prepared(place, observations, resting, current, mayMove), deferredWork)
    }
    guard let looked else {
      place.isLooking.store(false, ordering: .releasing)
      place.wakeAfterMiss()
      return .later
    }
    place.noteLook()
    finishInContext(looked.deferredWork)
    return try looked.delivery.get()
  }

  /// Waits for the first results of some places.
  private func settleStarts(_ places: some Sequence<DeliveryPlace>) {
    if places.contains(where: { $0.startsPending.load(ordering: .acquiring) > 0 }) { queue.sync {} }
  }

  /// Waits for the observations that some tokens requested, so that a commit can skip them. Not under the lock.
  package func settleStarts(
    of observations: [ResultObservation], _ watches: [ObjectWatch], andOfAllOthers isEverybody: Bool
  ) {
    if isEverybody { return queue.sync {} }
    settleStarts(observations.map(\.place) + watches.map(\.place))
  }

  /// As `prepare`, for a caller that has more to do if it fails.
  private func prepared(
    _ place: DeliveryPlace, _ observations: [ResultObservation], _ resting: Set<ObjectIdentifier>,
    _ current: any ReadTransaction, _ mayMove: Bool
  ) -> Result<ResultDelivery, StorageError> {
    do throws(StorageError) {
      return .success(try prepare(place, observations, resting, current, mayMove))
    } catch {
      return .failure(error)
    }
  }

  private func prepare(
    _ place: DeliveryPlace, _ observations: [ResultObservation], _ resting: Set<ObjectIdentifier>,
    _ current: any ReadTransaction, _ mayMove: Bool
  ) throws(StorageError) -> ResultDelivery {
    // Its end wakes the places of observers.
    if skippingCommit != nil, observingStores[ObjectIdentifier(place)] != nil { return .later }
    let failures = observations.map { observation in
      observation.failure.map { observation.offer(.failed($0), nil, at: current.version) }
    }
    guard let held else { return .free(watchOffers(of: place, but: resting, at: current.version, current), failures) }
    guard held.version >= current.version else { return later(place) }
    var transaction: (any ReadTransaction)?
    if held.version > current.version {
      guard mayMove else { return .later }
      transaction = observingStores[ObjectIdentifier(place)]?.preparedRead
      observingStores[ObjectIdentifier(place)]?.preparedRead = nil
      if transaction?.version != held.version {
        transaction?.end()
        transaction = try engine.beginRead()
      }
      guard transaction?.version == held.version else {
        transaction?.end()
        return later(place)
      }
    }
    let reading = transaction ?? current
    var offers = failures
    var failed: [ResultObservation] = []
    var versions: [ResultVersion?] = []
    for (i, observation) in observations.enumerated() {
      let result = observed[ObjectIdentifier(observation)]
      versions.append(result?.current)
      guard offers[i] == nil, !observation.isEnded, let result else { continue }
      do throws(StorageError) {
        offers[i] = try result.offer(to: observation, at: held.version, reading)
      } catch {
        observation.fail(error)
        offers[i] = observation.offer(.failed(error), nil, at: held.version)
        failed.append(observation)
      }
    }
    let watches = watchOffers(of: place, but: resting, at: held.version, reading)
    // They receive their last notification, and no token will release the result for them.
    for observation in failed { detach(observation) }
    if results.isEmpty, watches.isEmpty { queue.async { self.restIfIdle() } }
    return .ready(transaction, watches, offers, results: versions)
  }

  /// Tells a place to come again. Steps wake places with observations; one whose last result could not be kept has an error to report,
  /// and is woken here, after the step that it waits for.
  private func later(_ place: DeliveryPlace) -> ResultDelivery {
    if observingStores[ObjectIdentifier(place)] == nil {
      requestStep()
      queue.async { place.wake() }
    }
    return .later
  }
}
