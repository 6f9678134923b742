import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// The notification that a store-level observer receives.
public enum StoreNotification: Sendable, Hashable {
  /// The store is at a newer version, after a commit by any writer.
  case didChange
  /// There is a newer version, and the store keeps its own until `refresh()`: `autorefresh` is off. Or a newer program has migrated
  /// the file, and `refresh()` will bring nothing newer: writing throws `.newerSchema`.
  case refreshRequired
}

/// One observation of a store. Any thread may call the token's `stop`; the block is released on the store's context.
final class StoreObserver {
  let flag: StopFlag
  let watch: StoreWatch
  let block: (StoreNotification, Store) -> Void

  init(_ flag: StopFlag, _ watch: StoreWatch, _ block: @escaping (StoreNotification, Store) -> Void) {
    self.flag = flag
    self.watch = watch
    self.block = block
  }

  /// Whether the observer must be notified; not of a version it knows already.
  func hears(_ notification: StoreNotification, of version: Version) -> Bool {
    guard flag.isActive else { return false }
    switch notification {
    case .didChange: return watch.learn(version)
    case .refreshRequired: return !watch.knows(version)
    }
  }
}

extension Store {
  /// Moves to the newest version, notifies observers of everything due, including first results, and returns whether there was a
  /// newer version. Does nothing inside a write, which reads its own version, nor inside an observer's block, also one of a single
  /// property: all blocks of a turn see one version.
  @discardableResult
  public func refresh() -> Bool {
    guard mayNotify, !observing.isNotifyingProperty else { return false }
    do throws(StoreError) { try checkContext("refresh") } catch {
      misuse(error)
      return false
    }
    let before = isInvalidated ? nil : snapshot.version
    deliverFirstResults()
    return !isInvalidated && snapshot.version != before
  }

  /// Delivers everything due, including first results. Does nothing if observers may not be notified now.
  func deliverFirstResults() {
    if mayNotify, !observing.isNotifyingProperty { deliver(.firstResults) }
  }

  /// Takes a new snapshot. Notifies no observer.
  func advance() throws(StoreError) {
    try follow(try storing { () throws(StorageError) in try shared.engine.beginRead() })
  }

  /// Reads this snapshot from now on, and ends the old one unless frozen objects still read it.
  ///
  /// - Parameter keepsOld: whether the old one may be kept for observers that want old values.
  func move(to next: any ReadTransaction, keepsOld: Bool = true) {
    let old = snapshot
    let isShared = reader.isSnapshotShared
    reader.move(to: next, shared.versions.hold(next.version, label: configuration.label, place: opener))
    read(from: next)
    // If kept for observers, the old snapshot ends with its last reader.
    if !(keepsOld && keepOld(old)), !isShared { old.end() }
    trackedReadsDidChange(since: old.version)
  }

  /// Releases the version that is read, so that the store pins nothing: results and lists are empty and objects invalid until
  /// `refresh()`, the next write, or the next turn after a commit. For idle stores. Cancels an open write. Observers with old
  /// values (`includingOldValues`) receive the changes made meanwhile without them. Does nothing inside an observer's block, which
  /// reads the version it is notified of.
  public func invalidate() {
    guard !observing.isNotifying else { return }
    do throws(StoreError) { try checkContext("invalidate") } catch { return misuse(error) }
    guard !isReadOnly else { return misuse(.readOnlyOperation("'invalidate'")) }
    do throws(StoreError) { try refuseInObserver("'invalidate'") } catch { return misuse(error) }
    cancelWrite()
    if isInvalidated { return }
    move(to: NoVersion(after: snapshot), keepsOld: false)
    observing.old = nil
    reader.hold = nil
    observing.kept = [:]
    checkPropertyObservers()
    observing.checkedVersion = nil
  }

  /// Runs `block` on the store's context after every commit that changed the store, by any writer; several commits may cause one
  /// call. Reports that something changed, not what.
  ///
  /// Keep the token, and stop it in the end. Outside the store's context nothing is observed: that is logged, and traps in debug
  /// builds, as `Configuration.misuse` says. The same holds for every `observe` that does not throw `.wrongContext`.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (StoreNotification, Store) -> Void
  ) -> NotificationToken {
    if let refused = tokenElsewhere(fileID, line) { return refused }
    bind(isolation)
    // This `observe` cannot throw, and its observer is notified of this store's own writes in any case.
    _ = muteness()
    if observing.hearsOfNothing, writing == nil { observing.notifiedVersion = snapshot.version }
    let (flag, watch) = (StopFlag(), StoreWatch(observing.notifiedVersion, of: shared.number))
    let block = StoppableBlock<(StoreNotification, Store)> { block($0.0, $0.1) }
    observing.stores.append(StoreObserver(flag, watch) { block.call(($0, $1)) })
    let (stops, anchor) = (observing.stops, StoreAnchor(self))
    let token = NotificationToken(fileID: fileID, line: line, subject: watch) {
      flag.stop()
      stops.raise()
      StoreAnchor.release(anchor)
    }
    return block.end(with: token, of: self)
  }

  /// Binds a store opened in an actor's `init`, where there is no isolation yet, to that actor at its first observer.
  package func bind(_ isolation: isolated (any Actor)?) {
    guard case .manual = home, let isolation else { return }
    settle(in: .actor(isolation))
  }

  /// Binds a store without a context to this one. Called on it.
  func settle(in context: DeliveryContext) {
    home = context
    if context.isMain { tracksReads = true }
    shared.residents.add(self)
    observing.stops.home.withLock { $0 = context }
    if let place = observing.place {
      place.move(to: home)
      place.wake()
    }
    do throws(StoreError) { try subscribeIfNeeded() } catch { misuse(error) }
  }

  /// Whether observers may be notified now: not in a write, whose state is no version, and not inside another observer's block.
  var mayNotify: Bool { writing == nil && !observing.isNotifying && !isReadOnly }

  /// One turn of the context after a commit.
  func turn() {
    guard mayNotify else {
      observing.missedTurn = true
      return
    }
    defer { for resume in observing.waiters.values { resume() } }
    if configuration.autorefresh || isExpired || outdated != nil { return deliver(.none) }
    // After `invalidate()` there is nothing to show until the next refresh.
    if !isInvalidated { deliver(.none, mayMove: false) }
    if !observing.stores.isEmpty, let newest = try? shared.engine.latestVersion(), newest > snapshot.version,
      newest != observing.announcedVersion
    {
      observing.announcedVersion = newest
      notify(.refreshRequired, of: newest)
    }
  }

  func notify(_ notification: StoreNotification, of version: Version) {
    let outer = observing.beginNotifying()
    defer { observing.notifying = outer }
    observing.stores.removeAll { !$0.flag.isActive }
    // Iterates over a copy: blocks may register and stop observers. An observer that an earlier block stopped is not called.
    for observer in observing.stores where observer.hears(notification, of: version) { observer.block(notification, self) }
  }

  func subscribeIfNeeded() throws(StoreError) {
    if case .manual = home { return }
    guard case .nobody = observing.turns else { return }
    let weak = ConfinedStore(self)
    let home = home
    let subscription = try storing { () throws(StorageError) in
      try shared.notifier.subscribe(home) { weak.store?.turn() }
    }
    observing.turns = .commits(subscription)
    // A commit between the snapshot and the subscription woke nobody here.
    scheduleTurnIfBehind()
  }

  /// Schedules a turn for what became due while a write was open or observers were notified.
  ///
  /// - Parameter hasLooked: whether this is the end of a turn. If it misses none and is behind all the same, the notifier is too, and will
  ///   wake the place: the turn comes again in a while, and not over and over for as long as the notifier asks a question.
  func scheduleTurnIfBehind(hasLooked: Bool = false) {
    let isOwed = observing.missedTurn
    observing.missedTurn = false
    guard isOwed || isBehind else { return }
    switch observing.turns {
    case .results(let place): if isOwed || !hasLooked { place.wake() } else { place.wake(after: .milliseconds(5)) }
    case .nobody: break
    case .commits:
      let weak = ConfinedStore(self)
      home.schedule { weak.store?.turn() }
    }
  }
}

extension Store {
  /// Whether there is a version that observers were not notified of, and may be.
  private var isBehind: Bool {
    outdated == nil && (try? shared.engine.latestVersion()).map { $0 != observing.notifiedVersion } ?? false
  }
}

/// Carries a store to a turn of its own context.
struct ConfinedStore: @unchecked Sendable {
  // Sound because closures that hold one are passed only to `DeliveryContext.schedule`, which runs them on the store's own context,
  // and the store is touched only there.
  weak let store: Store?

  init(_ store: Store) { self.store = store }
}
