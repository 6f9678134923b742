import ChangeTracker
import Dispatch
import Notifications
import StorageInterface

extension Store {
  /// Where the notifier finds this store. Made with the first observation of a result: from then on it, and not every
  /// commit, gives the store its turns.
  func deliveryPlace() -> DeliveryPlace {
    subscription?.stop()
    subscription = nil
    if let place { return place }
    let weak = ConfinedStore(self)
    let made = DeliveryPlace(home, of: shared.number) { weak.store?.turn() }
    place = made
    return made
  }

  /// Tells observers what is due, after moving to the version that the notifier keeps. With patience that is the newest one;
  /// without, whatever is ready.
  ///
  /// May be called inside a block, by the beginning of a write: what a later block of the turn was to hear then comes here,
  /// with all that came since.
  func deliver(_ patience: ResultNotifier.Patience, mayMove: Bool = true) {
    endStopped()
    // An error is the last that an observer hears.
    defer { endStopped() }
    if isInvalidated, mayMove, outdated == nil { do throws(StoreError) { try advance() } catch { failedToMove(error) } }
    if let outdated { return tellOutdated(outdated) }
    if place == nil { return deliverPlainly(mayMove: mayMove) }
    // Observers without an observation have an error to tell, and nothing else.
    let place = deliveryPlace()
    let due = resultObservers.filter { $0.observation != nil && $0.hears(waits: patience != .none, at: place) }
    let resting = Set(restingWatches.filter { !$0.value.rest.isOver(waits: patience != .none, at: place) }.keys)
    let delivery: ResultDelivery
    do throws(StorageError) {
      delivery = try shared.results.delivery(
        at: place, due.compactMap(\.observation), resting: resting, current: snapshot, mayMove: mayMove, patience)
    } catch {
      return misuse(StoreError(error))
    }
    switch delivery {
    case .later: tellFaults()
    case .free(let watches, let offers):
      if mayMove, let newest = try? shared.engine.latestVersion(), newest != snapshot.version { try? advance() }
      // What cannot be kept may be so for that reason, and then it is the one to be told.
      if !mayMove, offers.contains(where: { $0?.isFailure == true }) || watches.contains(where: \.isFailure) {
        lookAhead()
      }
      if let outdated { return tellOutdated(outdated) }
      tell(watches, due, offers)
    case .ready(let transaction, let watches, let offers, let results):
      if let transaction {
        do throws(StoreError) { try follow(transaction) } catch { return tellOutdated(error) }
      }
      keep(due, results)
      tell(watches, due, offers)
      forgetOld()
    }
  }

  /// What makes the store outdated is said when its observers are told.
  private func failedToMove(_ error: StoreError) { if outdated == nil { misuse(error) } }

  /// Nobody observes a result.
  private func deliverPlainly(mayMove: Bool) {
    do throws(StoreError) {
      if mayMove, try storing({ () throws(StorageError) in try shared.engine.latestVersion() }) != snapshot.version {
        try advance()
      }
    } catch {
      failedToMove(error)
    }
    if let outdated { return tellOutdated(outdated) }
    checkCommittedProperties()
    tellChange()
  }

  /// Lets go of observers that were stopped. With the last one the turns come from every commit again.
  func endStopped() {
    resultObservers.removeAll { !$0.isActive }
    if old != nil, !resultObservers.contains(where: \.keepsOldValues) { old = nil }
    if watchStops.take() {
      watchObservers = watchObservers.filter { $0.value.flag.isActive }
      restingWatches = restingWatches.filter { $0.value.flag.isActive }
      observers.removeAll { !$0.flag.isActive }
      endStoppedPropertyObservers()
    }
    if resultObservers.isEmpty, watchObservers.isEmpty, faultyObservers.isEmpty, place != nil {
      kept = [:]
      place = nil
      do throws(StoreError) { try subscribeIfNeeded() } catch { misuse(error) }
      scheduleTurnIfBehind()
    }
  }

  /// Tells observers of the store of the version it is at, once.
  func tellChange() {
    guard notifiedVersion != snapshot.version else { return }
    let before = notifiedVersion
    notifiedVersion = snapshot.version
    if snapshot.changedNothing(since: before) { return }
    tell(.didChange, of: notifiedVersion)
  }

  /// First the observers of the store, then those of objects and lists, then those of results, in the order in which they
  /// were registered.
  private func tell(_ watches: [WatchOffer], _ due: [ResultObserver], _ offers: [ResultOffer?]) {
    let wasDelivering = isDelivering
    isDelivering = true
    defer {
      isDelivering = wasDelivering
      if !wasDelivering { scheduleTurnIfBehind() }
    }
    checkCommittedProperties()
    tellChange()
    tellFaults()
    for offer in watches {
      guard let observer = watchObservers[ObjectIdentifier(offer.watch)], observer.flag.isActive, offer.accept() else {
        continue
      }
      observer.willHear()
      observer.tell(offer, self)
      if offer.watch.isEnded { end(observer) }
    }
    for (observer, offer) in zip(due, offers) {
      guard let offer, observer.isActive, offer.accept() else { continue }
      observer.didHear()
      switch offer.content {
      case .initial: observer.block(.initial, self)
      case .update(let change): observer.block(.update(change), self)
      case .total(let total): observer.block(.total(total), self)
      case .failed(let error):
        observer.flag.stop()
        observer.block(.error(StoreError(error)), self)
      }
    }
  }

  /// Nothing comes after this: the notifier need not watch the object any more.
  private func end(_ observer: WatchObserver) {
    observer.flag.stop()
    watchStops.raise()
    observer.watch.map(shared.results.stop)
  }

  func tellFaults() {
    let faulty = faultyObservers
    faultyObservers = []
    for observer in faulty where observer.flag.isActive {
      observer.flag.stop()
      if let fault = observer.fault { observer.fail(fault) }
    }
    for observer in resultObservers where observer.isActive {
      // One whose question was right hears of what came later when it listens, as of everything else.
      guard let fault = observer.fault, observer.observation == nil || observer.isListening() else { continue }
      observer.flag.stop()
      observer.block(.error(fault), self)
    }
  }
}

extension StorageReading {
  /// Whether no commit after a version changed an object or the schema: all they wrote is side entries, which nobody is told of.
  fileprivate func changedNothing(since version: Version) -> Bool {
    guard catalog.hasSideEntries, version < self.version else { return false }
    var isEmpty = true
    do throws(StorageError) {
      try history(after: version) { record in
        isEmpty = record.isSilent
        return isEmpty ? .proceed : .stop
      }
    } catch {
      return false
    }
    return isEmpty
  }
}

// MARK: - Old values

extension Store {
  /// Before the store moves on: keeps the version that its observers were told of, if one of them wants to see what objects
  /// were. Returns whether it does.
  func keepOld(_ snapshot: any ReadTransaction) -> Bool {
    guard resultObservers.contains(where: { $0.keepsOldValues && $0.isActive }) else { return false }
    if old != nil { return false }
    // Frozen objects are made of it, for any thread.
    old = snapshot as? SharedVersion ?? SharedVersion(snapshot, of: identity)
    return true
  }

  /// Observers were told: the version of before is nobody's but theirs who took something of it.
  private func forgetOld() { old = nil }
}

extension Store {
  /// What keeping the observed results of this store's file has cost so far, after all that was asked for; for tests.
  package var notifierWork: ResultNotifier.Work {
    shared.results.finish()
    return shared.results.work
  }

  /// Where the notifier works; for tests that see what goes on without it.
  package var notifierQueue: DispatchQueue { shared.results.queue }
}

// MARK: - States that the notifier handed over

extension Store {
  private func keep(_ due: [ResultObserver], _ results: [ResultVersion?]) {
    if keptVersion != snapshot.version {
      kept = [:]
      keptVersion = snapshot.version
    }
    for (observer, result) in zip(due, results) {
      guard let result else { continue }
      let bound = observer.bound.flatMap { try? $0.description(in: snapshot) }
      guard let description = observer.description ?? bound else { continue }
      kept[description] = result
    }
  }

  /// Whether these results are observed, and so need not be evaluated.
  func isKept(_ state: ResultsState) -> Bool { place != nil && keptState(of: state) != nil }

  /// The results as the notifier keeps them, in the version that is read; nil when nobody observes them, or a write has
  /// changed something.
  func keptState(of state: ResultsState) -> ResultVersion? {
    guard place != nil, !isInvalidated, writer.unfinished?.isEmpty ?? true, snapshot.version == reading.version else { return nil }
    let description = state.description
    if keptVersion == snapshot.version, let result = kept[description] { return result }
    guard resultObservers.contains(where: { $0.isActive && $0.description == description }) else { return nil }
    // This store has moved by itself, by a commit of its own.
    guard let result = shared.results.state(of: description, at: snapshot.version) else { return nil }
    if keptVersion != snapshot.version { kept = [:] }
    keptVersion = snapshot.version
    kept[description] = result
    return result
  }
}
