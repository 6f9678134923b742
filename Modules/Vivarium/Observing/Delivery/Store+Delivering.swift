import ChangeTracker
import Dispatch
import Notifications
import StorageInterface

extension Store {
  /// Where the notifier reaches this store. Made with the first observation of a result, object or collection: from then on
  /// the notifier, not every commit, gives the store its turns.
  func deliveryPlace() -> DeliveryPlace {
    if let place = observing.place { return place }
    observing.turns.end()
    let weak = ConfinedStore(self)
    let made = DeliveryPlace(home, of: shared.number) { weak.store?.turn() }
    observing.turns = .results(made)
    return made
  }

  /// Moves to the version that the notifier keeps and notifies observers of what is due. With patience, that version is the newest
  /// one; without, whichever is ready.
  ///
  /// The start of a write may call this inside a block. It then reports what later blocks of the turn were due to report, together
  /// with all newer changes.
  func deliver(_ patience: ResultNotifier.Patience, mayMove: Bool = true) {
    endStopped()
    // An error is an observer's last call.
    defer { endStopped() }
    if isInvalidated, mayMove, outdated == nil { do throws(StoreError) { try advance() } catch { failedToMove(error) } }
    if let outdated { return notifyOutdated(outdated) }
    if observing.place == nil { return deliverPlainly(mayMove: mayMove) }
    // Observers without an observation have only an error to report.
    let place = deliveryPlace()
    let due = observing.results.filter { $0.observation != nil && $0.hears(waits: patience != .none, at: place) }
    let resting = Set(observing.resting.filter { !$0.value.rest.isOver(waits: patience != .none, at: place) }.keys)
    let delivery: ResultDelivery
    do throws(StorageError) {
      delivery = try shared.results.delivery(
        at: place, due.compactMap(\.observation), resting: resting, current: snapshot, mayMove: mayMove, patience)
    } catch {
      return misuse(StoreError(error))
    }
    switch delivery {
    case .later: notifyOfFaults()
    case .free(let watches, let offers):
      if mayMove, let newest = try? shared.engine.latestVersion(), newest != snapshot.version { try? advance() }
      // If a result cannot be kept, a newer program's migration may be the reason, and is then the error to report.
      if !mayMove, offers.contains(where: { $0?.isFailure == true }) || watches.contains(where: \.isFailure) {
        lookAhead()
      }
      if let outdated { return notifyOutdated(outdated) }
      notify(watches, due, offers)
    case .ready(let transaction, let watches, let offers, let results):
      if let transaction {
        do throws(StoreError) { try follow(transaction) } catch { return notifyOutdated(error) }
      }
      keep(due, results)
      notify(watches, due, offers)
      forgetOld()
    }
  }

  /// Reports an error, except one that makes the store outdated: that one is reported in the observers' last call.
  private func failedToMove(_ error: StoreError) { if outdated == nil { misuse(error) } }

  /// Delivers when no result, object or collection is observed.
  private func deliverPlainly(mayMove: Bool) {
    do throws(StoreError) {
      if mayMove, try storing({ () throws(StorageError) in try shared.engine.latestVersion() }) != snapshot.version {
        try advance()
      }
    } catch {
      failedToMove(error)
    }
    if let outdated { return notifyOutdated(outdated) }
    checkCommittedProperties()
    notifyOfChange()
  }

  /// Removes stopped observers. After the last one, turns come from every commit again.
  func endStopped() {
    observing.results.removeAll { !$0.isActive }
    if observing.old != nil, !observing.results.contains(where: \.keepsOldValues) { observing.old = nil }
    if observing.stops.take() {
      observing.watches = observing.watches.filter { $0.value.flag.isActive }
      observing.resting = observing.resting.filter { $0.value.flag.isActive }
      observing.stores.removeAll { !$0.flag.isActive }
      endStoppedPropertyObservers()
    }
    if observing.results.isEmpty, observing.watches.isEmpty, observing.faulty.isEmpty, observing.place != nil {
      observing.kept = [:]
      observing.turns = .nobody
      do throws(StoreError) { try subscribeIfNeeded() } catch { misuse(error) }
      scheduleTurnIfBehind()
    }
  }

  /// Notifies observers of the store of its present version, once.
  func notifyOfChange() {
    guard observing.notifiedVersion != snapshot.version else { return }
    let before = observing.notifiedVersion
    observing.notifiedVersion = snapshot.version
    if snapshot.changedNothing(since: before) { return }
    notify(.didChange, of: observing.notifiedVersion)
  }

  /// Notifies first the observers of properties, then those of the store, of objects and collections, and of results, each in the
  /// order of their registration.
  private func notify(_ watches: [WatchOffer], _ due: [ResultObserver], _ offers: [ResultOffer?]) {
    let outer = observing.beginNotifying()
    defer {
      observing.notifying = outer
      if !observing.isNotifying { scheduleTurnIfBehind(hasLooked: true) }
    }
    checkCommittedProperties()
    notifyOfChange()
    notifyOfFaults()
    for offer in watches {
      guard let observer = observing.watches[ObjectIdentifier(offer.watch)], observer.flag.isActive, offer.accept() else {
        continue
      }
      observer.willBeNotified()
      observer.followMoves(before: offer)
      observer.notify(offer, self)
      if offer.watch.isEnded { end(observer) }
    }
    for (observer, offer) in zip(due, offers) {
      // Asked again: a block before it may have begun what it does not want to be interrupted in. What is not accepted stays due.
      guard let offer, observer.isActive, observer.isListening(), offer.accept() else { continue }
      observer.willBeNotified()
      switch offer.content {
      case .initial: observer.block(.initial, self)
      case .update(let change):
        observer.followMove(before: change, in: self)
        observer.block(.update(change), self)
      case .total(let total): observer.block(.total(total), self)
      case .failed(let error):
        observer.flag.stop()
        observer.block(.error(StoreError(error)), self)
      }
    }
  }

  /// Ends an observer after its last call: the notifier need not watch the object any longer.
  private func end(_ observer: WatchObserver) {
    observer.flag.stop()
    observing.stops.raise()
    observer.watch.map(shared.results.stop)
  }

  func notifyOfFaults() {
    let faulty = observing.faulty
    observing.faulty = []
    for observer in faulty where observer.flag.isActive {
      observer.flag.stop()
      if let fault = observer.fault { observer.fail(fault) }
    }
    for observer in observing.results where observer.isActive {
      // An observer with a valid query hears of a later error, as of everything else, only while it listens.
      guard let fault = observer.fault, observer.observation == nil || observer.isListening() else { continue }
      observer.flag.stop()
      observer.block(.error(fault), self)
    }
  }
}

extension StorageReading {
  /// Whether no commit after a version changed an object or the schema, so that all of them wrote only side entries, of which no
  /// observer is notified.
  fileprivate func changedNothing(since version: Version) -> Bool {
    guard catalog.hasSideEntries, version < self.version else { return false }
    var isEmpty = true
    do throws(StorageError) {
      try history(after: version) { record in
        isEmpty = record.changesNothing
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
  /// Before the store moves: keeps the version that observers were last notified of, if one of them needs old values. Returns
  /// whether it kept the snapshot.
  func keepOld(_ snapshot: any ReadTransaction) -> Bool {
    let observers = observing.results.filter { $0.keepsOldValues && $0.isActive }
    if observers.isEmpty { return false }
    let moved = observers.filter { $0.movedTo == snapshot.version }
    if observing.old != nil, moved.isEmpty { return false }
    // Shared, because frozen objects are made from it, for any thread.
    let old = snapshot as? SharedVersion ?? SharedVersion(snapshot, of: identity)
    if observing.old == nil { observing.old = old } else { for observer in moved { observer.oldSinceMove = old } }
    return true
  }

  /// Releases the previous version after observers were notified; only the parts that the program took remain.
  private func forgetOld() {
    observing.old = nil
    for observer in observing.results where observer.movedTo != nil { (observer.movedTo, observer.oldSinceMove) = (nil, nil) }
  }
}

extension Store {
  /// The work done so far to keep the observed results of this store's file, including everything requested; for tests.
  package var notifierWork: ResultNotifier.Work {
    shared.results.finish()
    return shared.results.work
  }

  /// The notifier's queue; for tests of what works without it.
  package var notifierQueue: DispatchQueue { shared.results.queue }
}

// MARK: - States that the notifier handed over

extension Store {
  private func keep(_ due: [ResultObserver], _ results: [ResultVersion?]) {
    if observing.keptVersion != snapshot.version {
      observing.kept = [:]
      observing.keptVersion = snapshot.version
    }
    for (observer, result) in zip(due, results) {
      guard let result else { continue }
      let bound = observer.bound.flatMap { try? $0.description(in: snapshot) }
      guard let description = observer.description ?? bound else { continue }
      observing.kept[description] = result
    }
  }

  /// Whether these results are observed, and so need no evaluation.
  func isKept(_ state: ResultsState) -> Bool { observing.place != nil && keptState(of: state) != nil }

  /// The results as the notifier keeps them, in the version that is read; nil if they are not observed, or a write has made
  /// changes.
  func keptState(of state: ResultsState) -> ResultVersion? {
    guard observing.place != nil, !isInvalidated, writer.unfinished?.isEmpty ?? true, snapshot.version == reading.version
    else { return nil }
    let description = state.description
    if observing.keptVersion == snapshot.version, let result = observing.kept[description] { return result }
    guard observing.results.contains(where: { $0.isActive && $0.description == description }) else { return nil }
    // This store moved by itself, with its own commit.
    guard let result = shared.results.state(of: description, at: snapshot.version) else { return nil }
    if observing.keptVersion != snapshot.version { observing.kept = [:] }
    observing.keptVersion = snapshot.version
    observing.kept[description] = result
    return result
  }
}
