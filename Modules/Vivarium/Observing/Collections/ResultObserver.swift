import ChangeTracker
import Notifications
import StorageInterface
import Synchronization

/// One observation of a collection, as its store keeps it: what the notifier knows of it, and the block.
final class ResultObserver: Observer {
  /// nil when the question is wrong, and there is nothing but that to report.
  let observation: ResultObservation?
  /// What the collection is by itself, for results that read through the same view.
  let description: ResultDescription?
  /// The same of one that depends on other objects, and so on the version.
  var bound: BoundDescription?
  /// Runs the block; the store is the one that keeps this.
  let block: (Content, Store) -> Void
  /// Whether the observer wants to hear in this turn: one that is asked for its changes does when it is asked.
  var isListening: () -> Bool = { true }
  /// Whether it wants to see deleted and modified objects as they were.
  var keepsOldValues = false
  /// The version that a commit led to of which it is not notified, and that version once the store reads a later one: then that is what
  /// objects were.
  var movedTo: Version?
  var oldSinceMove: SharedVersion?
  /// Follows with what the observer keeps of rows by itself, where a commit of which it is not notified has moved these.
  var follow: ((Move, Store) -> Void)?

  /// Where a commit led of which the observer is not notified.
  enum Move {
    /// To the results as the store reads them.
    case here
    /// To these rows, from which the change leads on that is reported next.
    case rows([Int64])
  }

  enum Content {
    case initial
    case update(ResultChange)
    case total(TotalChange)
    case error(StoreError)
  }

  init(
    _ observation: ResultObservation?, _ flag: StopFlag, _ description: ResultDescription?, fault: StoreError?,
    _ block: @escaping (Content, Store) -> Void
  ) {
    self.observation = observation
    self.description = description
    self.block = block
    super.init(flag, fault: fault)
  }

  /// Whether it hears in this turn; see `ObserverRest.isOver`.
  func hears(waits: Bool, at place: DeliveryPlace) -> Bool { isListening() && rest.isOver(waits: waits, at: place) }
}

/// Keeps a store for as long as a token observes it, and lets go of it on the store's context.
final class StoreAnchor: @unchecked Sendable {
  // Sound because the store is touched through this by a turn of the store's own context alone, and else only kept; and the
  // last reference is let go of by that turn, or, where none is taken, by whoever is the last to have one, who then is alone
  // with it.
  private let store: Store

  /// Where the store is, for any thread.
  private let stops: StopSignal

  init(_ store: Store) {
    self.store = store
    stops = store.observing.stops
  }

  static func release(_ anchor: StoreAnchor?) {
    guard let anchor else { return }
    let home = anchor.stops.home.withLock { $0 }
    // Nobody else may ever call the store: what the observer kept is let go of, and turns come another way from here on.
    home.schedule { anchor.store.endStopped() }
  }
}
