import ChangeTracker
import Dispatch
import Foundation
import Notifications
import QueryEngine
import StorageInterface
import StoreValues

/// An open store: where objects are found, written and observed.
///
/// A store belongs to one context (an actor, a serial queue, a thread with a run loop) and is used nowhere else; it
/// and its objects are not `Sendable`. Its configuration and `ObjectReference`s travel. All stores of a
/// file share one engine, so opening one for each context is cheap. It shows one version of the data until it is
/// refreshed: at the context's next turn after a commit by anybody, at `refresh()`, and at each write.
///
/// What every look-up and every read touches is `@exclusivity(unchecked)`: a store is in one context at a time, and
/// no access to these variables spans another call.
public final class Store {
  /// What a store is opened with.
  public typealias Configuration = StoreConfiguration

  /// What it was opened with. Changing a copy changes nothing here.
  public let configuration: Configuration
  /// What opening this store added to the file, or dropped from it, so that it holds the models: types, properties,
  /// indexes. Empty when the file had it all.
  public let schemaChanges: [CatalogStep]
  let shared: SharedEngine
  /// Where observers run. An actor's `init` has no isolation yet, so `.manual` may become an actor later.
  var home: DeliveryContext
  /// Tells this store's commits from others'.
  let origin = StoreOrigin.next()

  /// Writes that wait for the right to begin on this store's context, in order.
  var pendingWrites: [PendingWrite] = []
  /// The right that the worker fetches on their behalf, until this store has its turn.
  var fetch: WriterQueue.Waiter?
  /// The request that this store runs a write for, on the worker.
  var request: AsyncWrite?

  // One version to read, and the write that is open on top of it.
  var snapshot: any ReadTransaction
  /// The snapshot's line in the list of held versions; nil while none is held.
  var hold: VersionHold?
  /// Why nothing newer can be read any more: a newer program has migrated the file. The store stays where it is, for good.
  package internal(set) var outdated: StoreError?
  /// Whether the store's observers heard of it.
  var isOutdatedTold = false
  /// Whether `invalidate()` was called and nothing was read anew since.
  var isInvalidated: Bool { hold == nil }
  /// Where in the program it was opened.
  let opener: String
  @exclusivity(unchecked) var writing: RecordedTransaction?
  /// Grows with each write: what was made for one is told from what was made for another.
  @exclusivity(unchecked) var writeNumber: UInt64 = 0
  /// Inside `readOnly`: nothing is written and nothing newer read.
  var isReadOnly = false
  /// The write that was open when it began.
  var heldWrite: RecordedTransaction?
  /// What was refused in it.
  var edits = RefusedEdits()
  /// What waits for the open write to end.
  var hooks = WriteHooks()
  /// The write while there is one, else the snapshot; and its windows, if its engine has them.
  @exclusivity(unchecked) var reading: any StorageReading
  @exclusivity(unchecked) var windowed: (any WindowedReading)?
  /// Frozen objects read the snapshot too, through one lock: it ends with the last of its readers, not when the store moves on.
  var isSnapshotShared = false
  /// What frozen objects of this version read.
  weak var sharedVersion: SharedVersion?

  /// Walks over long collections that somebody may still take steps of.
  var walks: [WeakWalk] = []

  /// Of the types that were used so far.
  private var contexts: [(type: ObjectIdentifier, context: ModelContext)] = []
  @exclusivity(unchecked) private var lastContext: (type: ObjectIdentifier, context: ModelContext)?
  /// Whether any window is open; spares a bulk load the closing of none.
  @exclusivity(unchecked) var hasWindows = false
  /// Grows whenever anything that is read may have changed.
  @exclusivity(unchecked) private(set) var tick: UInt64 = 0
  /// Queries that were bound lately, and how many ever were.
  var latelyBound: [BoundQuery] = []
  package var boundCount = 0
  /// How many queries this store ran; for tests.
  package var evaluationCount = 0
  /// How often an observed property was read to be compared, beside those that were set; for tests.
  package var propertyCheckCount = 0
  /// How often an observed path was followed; for tests.
  package var pathReadCount = 0
  /// How often it was asked where one object stands in an order, for tests.
  package var placesRead = 0

  var observers: [StoreObserver] = []
  /// The version that observers were told of last.
  var notifiedVersion: Version
  /// The newer version that observers were told to refresh for.
  var announcedVersion: Version?
  var isDelivering = false
  /// A turn came while nobody could be told: there may be more to tell than a newer version.
  var missedTurn = false
  var subscription: CommitSubscription?
  var resultObservers: [ResultObserver] = []
  /// Observers of objects and lists, by their watch; and those that have but an error to tell.
  var watchObservers: [ObjectIdentifier: WatchObserver] = [:]
  var faultyObservers: [WatchObserver] = []
  /// Set when one of them, or another observer, was stopped.
  let watchStops: StopSignal
  /// Iterators that wait for a turn.
  var waiters: [ObjectIdentifier: () -> Void] = [:]
  /// Whether any property of an object may have an observer of its own.
  var hasPropertyObservers = false
  var isTellingPropertyObserver = false
  /// The version in which all of them were compared last; nil: they are to be compared whatever was committed.
  var checkedVersion: Version?
  /// While observed properties are compared all together: each path is read once.
  var isCheckingProperties = false
  var propertyPass: UInt64 = 0
  /// Who wants to know which properties are read now.
  var readTrace: ReadTrace?
  var isTrackingReads = false
  /// Where they are observed from; nil while none is.
  var place: DeliveryPlace?
  /// The version that observers were told of last, where one of them wants to see what objects were.
  var old: SharedVersion?
  /// Observed results as they are in `keptVersion`.
  var kept: [ResultDescription: ResultVersion] = [:]
  var keptVersion = Version(0)

  convenience init(
    _ configuration: Configuration, _ prepared: PreparedStore, home: DeliveryContext, place: String
  ) throws(StoreError) {
    try self.init(configuration, prepared.shared, home: home, place: place, steps: prepared.steps)
  }

  init(
    _ configuration: Configuration, _ shared: SharedEngine, home: DeliveryContext, place: String,
    steps: [CatalogStep] = [], isBrief: Bool = false, snapshot first: (any ReadTransaction)? = nil
  ) throws(StoreError) {
    self.configuration = configuration
    schemaChanges = steps
    self.shared = shared
    self.home = home
    watchStops = StopSignal(home)
    opener = place
    do throws(StorageError) {
      if let first { snapshot = first } else { snapshot = try shared.engine.beginRead() }
    } catch {
      throw StoreError(error)
    }
    // A newer program may have migrated the file since it was looked at.
    if let refusal = configuration.refusal(of: snapshot.catalog) {
      snapshot.end()
      throw refusal
    }
    hold = shared.versions.hold(snapshot.version, label: configuration.label, place: place, isBrief: isBrief)
    reading = snapshot
    windowed = snapshot.powers.windows
    notifiedVersion = snapshot.version
    try subscribeIfNeeded()
  }

  deinit {
    for observer in resultObservers { observer.observation.map(shared.results.stop) }
    for observer in watchObservers.values { observer.watch.map(shared.results.stop) }
    subscription?.stop()
    if let fetch { shared.writers.abandon(fetch) }
    if let writing { shared.writers.ending(origin) { writing.end() } }
    if !isSnapshotShared { snapshot.end() }
  }

  /// The version that is read; in a write, the one it began from.
  public var version: Version { reading.version }
}

// MARK: - Types

extension Store {
  /// The context of a type. Types that are not in the store have one without a table.
  @usableFromInline func context<T: Model>(_ type: T.Type) -> ModelContext {
    let id = ObjectIdentifier(type)
    if let last = lastContext, last.type == id { return last.context }
    let context = contexts.first { $0.type == id }?.context ?? makeContext(id, T._$schema)
    lastContext = (id, context)
    return context
  }

  private func makeContext(_ id: ObjectIdentifier, _ schema: ObjectSchema) -> ModelContext {
    let isListed = configuration.models.contains { $0._$objectType == id }
    let context = ModelContext(self, schema, in: isListed ? reading.catalog : Catalog())
    contexts.append((id, context))
    context.raw.pointee.tracksReads = isTrackingReads || readTrace != nil
    return context
  }

  var allContexts: some Collection<ModelContext> { contexts.lazy.map(\.context) }

  /// The object with a key, not looked up.
  func live<T: Model>(_ key: Int64) -> T { T(_$handle: ModelHandle(context(T.self).raw, key, self)) }
}

// MARK: - Moving

extension Store {
  /// Reads from another transaction from now on: everything that was read before may differ.
  func read(from transaction: any StorageReading) {
    if !walks.isEmpty { finishWalks() }
    dropWindows()
    reading = transaction
    windowed = transaction.powers.windows
    everythingChanged()
  }

  /// Makes derived properties right within an open write.
  func settleDerived() {
    guard let writing, writing.hasUnderived else { return }
    dropWindows()
    do throws(StorageError) { try writing.settleDerived() } catch { misuse(StoreError(error)) }
    everythingChanged()
  }

  func dropWindows() {
    guard hasWindows else { return }
    for (_, context) in contexts { context.dropWindows() }
    hasWindows = false
  }

  func everythingChanged() {
    tick &+= 1
    for (_, context) in contexts {
      context.tick &+= 1
      context.raw.pointee.membershipTick &+= 1
    }
  }

  /// After a call that changed a value of the type, or with `membership` which objects there are.
  func didChange(_ context: ModelContext, membership: Bool = false) {
    dropWindows()
    tick &+= 1
    context.tick &+= 1
    if membership {
      context.raw.pointee.membershipTick &+= 1
      context.noteMembership()
    }
  }

  /// After a call that may have changed other types too: a delete takes its object out of links.
  /// - Parameter touched: the objects that may be different; nil: any.
  func didChangeEverything(_ touched: Set<ObjectPlace>? = nil) {
    dropWindows()
    everythingChanged()
    checkPropertyObservers(of: touched)
    noteAllReads()
  }

  /// A read of an object that is gone: another thread or process may have deleted it, so it is never more than logged.
  func readOfNothing(_ error: StoreError) {
    if configuration.misuse != .ignore { StoreLog.warning("\(error)") }
  }

  /// What cannot be thrown where it happened: mistakes of the program go by `MisusePolicy`, everything else is logged.
  func misuse(_ error: StoreError) {
    guard error.isMistakeOfProgram else { return readOfNothing(error) }
    switch configuration.misuse {
    case .trapInDebug:
      assertionFailure("\(error)")
      StoreLog.warning("\(error)")
    case .log: StoreLog.warning("\(error)")
    case .ignore: break
    }
  }
}

extension StoreError {
  /// Whether it comes about only where the program is wrong, whatever the data, other threads and other processes do.
  fileprivate var isMistakeOfProgram: Bool {
    switch code {
    case .notInWrite, .alreadyInWrite, .wrongContext, .readOnlyOperation, .writeInObserver, .invalidQuery, .unknownProperty, .unknownType,
      .wrongStore:
      true
    default: false
    }
  }
}
