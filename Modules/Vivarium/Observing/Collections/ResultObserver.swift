import ChangeTracker
import Notifications
import StorageInterface
import Synchronization

/// One observation of a collection, as its store keeps it: the notifier's observation and the block.
final class ResultObserver: Observer {
  /// nil if the query is invalid; then that error is the only report.
  let observation: ResultObservation?
  /// Identifies the collection to results that read through the same view.
  let description: ResultDescription?
  /// The same for a collection that depends on other objects, and therefore on the version.
  var bound: BoundDescription?
  /// Runs the block, given the store that keeps this observer.
  let block: (Content, Store) -> Void
  /// Whether the observer wants to be notified in this turn. An observer that is polled for changes wants it only while polled.
  var isListening: () -> Bool = { true }
  /// Whether it needs deleted and modified objects as they were.
  var keepsOldValues = false
  /// The version made by a commit that skipped this observer, and its snapshot once the store reads a later version: that is where
  /// old values come from.
  var movedTo: Version?
  var oldSinceMove: SharedVersion?
  /// Updates the row state that the observer keeps for itself when a skipped commit has moved the rows.
  var follow: ((Move, Store) -> Void)?

  /// The state that a commit which skipped the observer led to.
  enum Move {
    /// The results as the store reads them.
    case here
    /// These rows, from which the next reported change starts.
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

  /// Whether it is notified in this turn; see `ObserverRest.isOver`.
  func hears(waits: Bool, at place: DeliveryPlace) -> Bool { isListening() && rest.isOver(waits: waits, at: place) }
}

/// Retains a store while a token observes it, and releases the store on its context.
final class StoreAnchor: @unchecked Sendable {
  // Sound because only a turn on the store's own context touches the store through this class, which otherwise just retains it.
  // That turn drops the last reference; if no turn runs, the last owner does, and then no other thread can reach the store.
  private let store: Store

  /// Locates the store's context, from any thread.
  private let stops: StopSignal

  init(_ store: Store) {
    self.store = store
    stops = store.observing.stops
  }

  static func release(_ anchor: StoreAnchor?) {
    guard let anchor else { return }
    let home = anchor.stops.home.withLock { $0 }
    // The store may never be called again, so release here what the observer kept, and redirect the turns.
    // If the run loop's thread ends before, it drops the anchor with this turn.
    home.schedule { anchor.store.endStopped() }
  }
}
