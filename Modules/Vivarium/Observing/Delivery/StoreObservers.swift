import Notifications
import StorageInterface
import StoreValues

/// Who observes a store, and up to which version each kind of them was notified. Confined to the store's context, but for `stops`.
///
/// Blocks run in turns of that context. `turns` says where turns come from, and `notifying` whose block runs now: while one does,
/// a turn that comes is missed, and taken afterwards.
struct StoreObservers {
  /// Where the store's turns come from.
  enum Turns {
    /// From nowhere: there is no context to take them in, or none was asked for yet.
    case nobody
    /// From every commit.
    case commits(CommitSubscription)
    /// From the notifier, as long as it keeps or watches anything for this store.
    case results(DeliveryPlace)

    /// No turn comes of it any more.
    func end() { if case .commits(let subscription) = self { subscription.stop() } }
  }

  /// Whose block runs.
  enum Notifying {
    case nobody
    /// One of a turn's.
    case turn
    /// One of a property's, inside the setter; perhaps of what a turn moved.
    case property(inTurn: Bool)
  }

  /// The comparison of all observed properties, in which each path is read once.
  struct Comparison {
    private var number: UInt64 = 0
    private var isRunning = false

    /// The one that runs.
    var current: UInt64? { isRunning ? number : nil }
    mutating func begin() { (number, isRunning) = (number &+ 1, true) }
    mutating func end() { isRunning = false }
  }

  var turns = Turns.nobody
  var notifying = Notifying.nobody
  /// A turn came while nobody could be notified: there may be more to report than a newer version.
  var missedTurn = false
  /// Those of the store as a whole.
  var stores: [StoreObserver] = []
  /// The version that they were notified of last.
  var notifiedVersion: Version
  /// The newer version that they were asked to refresh for.
  var announcedVersion: Version?
  /// Those of results and their numbers, in the order in which they began.
  var results: [ResultObserver] = []
  /// Those of objects and their collections, by their watch; those that have but an error to report; and those that rest after
  /// their calls.
  var watches: [ObjectIdentifier: WatchObserver] = [:]
  var faulty: [WatchObserver] = []
  var resting: [ObjectIdentifier: WatchObserver] = [:]
  /// Set when one of them, or another observer, was stopped. Any thread.
  let stops: StopSignal
  /// Iterators and tasks that wait for a turn.
  var waiters: [ObjectIdentifier: () -> Void] = [:]
  /// The version that observers were notified of last, where one of them wants to see what objects were.
  var old: SharedVersion?
  /// Observed results as they are in `keptVersion`.
  var kept: [ResultDescription: ResultVersion] = [:]
  var keptVersion = Version(0)

  // MARK: Properties

  /// Whether any property of an object may have an observer of its own.
  var hasProperties = false
  /// The version in which all of them were compared last; nil: they are to be compared whatever was committed.
  var checkedVersion: Version?
  var comparison = Comparison()
  /// Who wants to know which properties are read now.
  var readTrace: ReadTrace?
  /// Whether `withObservationTracking` sees what is read.
  var tracksReads = false

  init(_ home: DeliveryContext, at version: Version) {
    stops = StopSignal(home)
    notifiedVersion = version
  }

  /// Where the notifier finds the store; nil while it keeps nothing for it.
  var place: DeliveryPlace? { if case .results(let place) = turns { place } else { nil } }

  /// Whether nobody hears of versions, so that nobody was notified of one.
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

  /// A turn's blocks run from now on. Returns what was before, and is to be again.
  mutating func beginNotifying() -> Notifying {
    defer { notifying = isNotifyingProperty ? .property(inTurn: true) : .turn }
    return notifying
  }

  /// The block of a property's observer runs from now on. Returns what was before, and is to be again.
  mutating func beginNotifyingProperty() -> Notifying {
    defer { notifying = .property(inTurn: isNotifying) }
    return notifying
  }
}
