import Notifications
import StorageInterface
import StoreValues

/// The observers of a store, and the version each kind was last notified of. Confined to the store's context, except `stops`.
///
/// Blocks run in turns of that context. `turns` is the source of these turns; `notifying` is the kind of block that runs now. A
/// turn that comes while a block runs is missed, and taken afterwards.
struct StoreObservers {
  /// Where the store's turns come from.
  enum Turns {
    /// None: there is no context to take them in, or no context was requested yet.
    case nobody
    /// Every commit.
    case commits(CommitSubscription)
    /// The notifier, while it keeps or watches anything for this store.
    case results(DeliveryPlace)

    /// Stops this source; no turn comes from it any longer.
    func end() { if case .commits(let subscription) = self { subscription.stop() } }
  }

  /// The kind of block that runs.
  enum Notifying {
    case nobody
    /// A block of a turn.
    case turn
    /// A property observer's block, inside the setter; possibly for a change that a turn made.
    case property(inTurn: Bool)
  }

  /// The comparison of all observed properties, which reads each path once.
  struct Comparison {
    private var number: UInt64 = 0
    private var isRunning = false

    /// The number of the running comparison.
    var current: UInt64? { isRunning ? number : nil }
    mutating func begin() { (number, isRunning) = (number &+ 1, true) }
    mutating func end() { isRunning = false }
  }

  var turns = Turns.nobody
  var notifying = Notifying.nobody
  /// A turn came while no observer could be notified: there may be more to report than a newer version.
  var missedTurn = false
  /// The observers of the store as a whole.
  var stores: [StoreObserver] = []
  /// The version that they were last notified of.
  var notifiedVersion: Version
  /// The newer version that they were asked to refresh to.
  var announcedVersion: Version?
  /// The observers of results and aggregates, in the order in which they began.
  var results: [ResultObserver] = []
  /// The observers of objects and their collections, by their watch; those with only an error to report; and those that rest after
  /// their calls.
  var watches: [ObjectIdentifier: WatchObserver] = [:]
  var faulty: [WatchObserver] = []
  var resting: [ObjectIdentifier: WatchObserver] = [:]
  /// Raised when one of these or another observer was stopped. Safe from any thread.
  let stops: StopSignal
  /// Iterators and tasks that wait for a turn.
  var waiters: [ObjectIdentifier: () -> Void] = [:]
  /// The version that observers were last notified of, if one of them needs old values.
  var old: SharedVersion?
  /// Observed results, as of `keptVersion`.
  var kept: [ResultDescription: ResultVersion] = [:]
  var keptVersion = Version(0)

  // MARK: Properties

  /// Whether any property of an object may have its own observer.
  var hasProperties = false
  /// The version in which all of them were last compared; nil if they must be compared whatever was committed.
  var checkedVersion: Version?
  var comparison = Comparison()
  /// Records which properties are read now, if requested.
  var readTrace: ReadTrace?
  /// Whether `withObservationTracking` sees reads.
  var tracksReads = false

  init(_ home: DeliveryContext, at version: Version) {
    stops = StopSignal(home)
    notifiedVersion = version
  }

  /// Where the notifier reaches the store; nil while it keeps nothing for the store.
  var place: DeliveryPlace? { if case .results(let place) = turns { place } else { nil } }

  /// Whether no observer is notified of versions.
  var hearsOfNothing: Bool { stores.isEmpty && results.isEmpty }

  /// Whether a block of a turn runs.
  var isNotifying: Bool {
    switch notifying {
    case .turn, .property(inTurn: true): true
    case .nobody, .property(inTurn: false): false
    }
  }

  /// Whether a block of a property's observer runs.
  var isNotifyingProperty: Bool { if case .property = notifying { true } else { false } }

  /// Marks that blocks of a turn run from now on. Returns the previous state, to be restored.
  mutating func beginNotifying() -> Notifying {
    defer { notifying = isNotifyingProperty ? .property(inTurn: true) : .turn }
    return notifying
  }

  /// Marks that the block of a property's observer runs from now on. Returns the previous state, to be restored.
  mutating func beginNotifyingProperty() -> Notifying {
    defer { notifying = .property(inTurn: isNotifying) }
    return notifying
  }
}
