import ChangeTracker
import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// One observation of an object or a list, as its store keeps it.
final class WatchObserver: Observer {
  /// nil if an error is all there is to report.
  let watch: ObjectWatch?
  /// Compares values, and runs the block if they changed.
  let notify: (WatchOffer, Store) -> Void
  /// Updates what the observer knows to what the store reads now, after a write that skipped it.
  let rebase: (Store) -> Void
  let fail: (StoreError) -> Void
  /// Updates what is kept of the values beside the observer, after writes that skipped it: either what is known is what the store
  /// reads now, or it is not known what it is.
  var follow: ((_ isHere: Bool) -> Void)?

  init(
    _ watch: ObjectWatch?, _ request: ObservationRequest, fault: StoreError? = nil, notify: @escaping (WatchOffer, Store) -> Void,
    rebase: @escaping (Store) -> Void, fail: @escaping (StoreError) -> Void
  ) {
    self.watch = watch
    self.notify = notify
    self.rebase = rebase
    self.fail = fail
    super.init(StopFlag(), throttle: request.options.throttle, fault: fault)
  }

  /// Called after a commit of the store that skipped the observer. What is pending is still reported, from what was known before.
  func followMove(in store: Store) {
    guard let watch else { return }
    let isPending = watch.isPending
    if !isPending { rebase(store) }
    guard let follow, let moved = watch.takeMove(upTo: store.snapshot.version) else { return }
    follow(!isPending && moved == store.snapshot.version)
  }

  /// Called right before a notification: follows the commits of other stores that skipped the observer.
  func followMoves(before offer: WatchOffer) {
    if let follow, offer.watch.takeMove(upTo: offer.to) != nil { follow(false) }
  }
}

/// A flag that some observer was stopped, reset when read, with the context of the store that needs to know. Safe from any thread.
final class StopSignal: Sendable {
  private let raised = Atomic(false)
  /// The store's context. Observers may exist before it has one.
  let home: Mutex<DeliveryContext>

  init(_ home: DeliveryContext) { self.home = Mutex(home) }

  func raise() { raised.store(true, ordering: .releasing) }
  func take() -> Bool { raised.exchange(false, ordering: .acquiringAndReleasing) }
}

extension Store {
  /// Lets somebody follow the commits that skip the observer of an object or of its collection.
  func follow(_ token: NotificationToken, _ follow: @escaping (_ isHere: Bool) -> Void) {
    guard let watch = token.subject as? ObjectWatch else { return }
    observing.watches[ObjectIdentifier(watch)]?.follow = follow
  }

  /// Registers an observer, and makes the token that retains it.
  func add(_ observer: WatchObserver, _ request: ObservationRequest) -> NotificationToken {
    let place = deliveryPlace()
    if observing.hearsOfNothing, observing.watches.isEmpty, writing == nil { observing.notifiedVersion = snapshot.version }
    if let fault = observer.fault, fault.isMistakeInQuery { misuse(fault, at: SourcePlace(fileID: request.fileID, line: request.line)) }
    if observer.fault == nil { observer.fault = outdated }
    if observer.fault == nil, let watch = observer.watch {
      observing.watches[ObjectIdentifier(watch)] = observer
      if observer.rest.isTaken { observing.resting[ObjectIdentifier(watch)] = observer }
      shared.results.observe(watch)
    } else {
      observing.faulty.append(observer)
      place.wake()
    }
    let (notifier, watch, flag, stops) = (shared.results, observer.watch, observer.flag, observing.stops)
    let anchor = StoreAnchor(self)
    return NotificationToken(fileID: request.fileID, line: request.line, subject: watch) {
      flag.stop()
      stops.raise()
      if let watch { notifier.stop(watch) }
      StoreAnchor.release(anchor)
    }
  }
}
