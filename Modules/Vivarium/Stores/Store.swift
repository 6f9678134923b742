import ChangeTracker
import Dispatch
import Foundation
import Notifications
import QueryEngine
import StorageInterface
import StoreValues
import Synchronization

/// An open store: where objects are found, written and observed.
///
/// A store belongs to one context (an actor, a serial queue, a thread with a run loop) and is used nowhere else; it
/// and its objects are not `Sendable`. Its configuration and `ObjectReference`s travel. All stores of a
/// file share one engine, so opening one for each context is cheap. It shows one version of the data until it is
/// refreshed: at the context's next turn after a commit by anybody, at `refresh()`, and at each write.
///
/// What it reads is its `StoreReader`'s, what it writes its `StoreWriter`'s; the store itself does with both what touches more than
/// one of them: it moves on, notifies observers, and runs what its caller handed over.
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
  /// Whether a read elsewhere than in its context was logged.
  let saidReadElsewhere = Atomic(false)
  /// Tells this store's commits apart from others'.
  let origin = StoreOrigin.next()

  /// What a layer above does for the file while this store is open, see `StoreCompanion`.
  package private(set) var attachment: (any AnyObject & Sendable)?

  /// Where in the program it was opened.
  let opener: String
  // Proof for both: a store is in one context at a time, and no access to them spans a call that looks at the store.
  @exclusivity(unchecked) var reader: StoreReader
  @exclusivity(unchecked) var writer = StoreWriter()
  /// How often an observed property was read to be compared, beside those that were set; for tests.
  package var propertyCheckCount = 0
  /// How often an observed path was followed; for tests.
  package var pathReadCount = 0

  /// Who observes it, and up to which version they were notified.
  var observing: StoreObservers

  convenience init(
    _ configuration: Configuration, _ prepared: PreparedStore, home: DeliveryContext, place: String
  ) throws(StoreError) {
    try self.init(configuration, prepared.shared, home: home, place: place, steps: prepared.steps)
    if !configuration.options.isReadOnly, let companion = configuration.companion as? any StoreCompanion {
      attachment = companion.attachment(to: file)
    }
  }

  init(
    _ configuration: Configuration, _ shared: SharedEngine, home: DeliveryContext, place: String,
    steps: [CatalogStep] = [], isBrief: Bool = false, snapshot first: (any ReadTransaction)? = nil
  ) throws(StoreError) {
    self.configuration = configuration
    schemaChanges = steps
    self.shared = shared
    self.home = home
    opener = place
    let snapshot = try storing { () throws(StorageError) -> any ReadTransaction in
      if let first { return first }
      return try shared.engine.beginRead()
    }
    // A newer program may have migrated the file since it was looked at.
    if let refusal = configuration.refusal(of: snapshot.catalog) {
      snapshot.end()
      throw refusal
    }
    observing = StoreObservers(home, at: snapshot.version)
    reader = StoreReader(snapshot)
    reader.hold = shared.versions.hold(snapshot.version, label: configuration.label, place: place, isBrief: isBrief)
    if home.isMain { observing.tracksReads = true }
    shared.residents.add(self)
    try subscribeIfNeeded()
  }

  deinit {
    for observer in observing.results { observer.observation.map(shared.results.stop) }
    for observer in observing.watches.values { observer.watch.map(shared.results.stop) }
    observing.turns.end()
    if let fetch = writer.fetch { shared.writers.abandon(fetch) }
    if let writing { shared.writers.ending(origin) { writing.end() } }
    if !reader.isSnapshotShared { snapshot.end() }
    shared.residents.remove(self)
  }

  /// The version that is read; in a write, the one it began from.
  public var version: Version { reading.version }
}

// MARK: - Moving

extension Store {
  /// Reads from another transaction from now on: everything that was read before may differ.
  func read(from transaction: any StorageReading) {
    if !reader.walks.isEmpty { finishWalks() }
    reader.read(from: transaction)
  }

  /// Makes derived properties right within an open write.
  func settleDerived() {
    guard let writing, writing.hasUnderived else { return }
    dropWindows()
    do throws(StorageError) { try writing.settleDerived() } catch { misuse(StoreError(error)) }
    reader.everythingChanged()
  }

  func dropWindows() { reader.dropWindows() }

  /// After a call that changed a value of the type, or with `membership` which objects there are.
  func didChange(_ context: ModelContext, membership: Bool = false) {
    reader.didChange(context)
    if membership {
      context.raw.pointee.membershipTick &+= 1
      context.didChangeMembership()
    }
  }

  /// After a call that may have changed other types too: a delete takes its object out of links.
  /// - Parameter touched: the objects that may be different; nil: any.
  func didChangeEverything(_ touched: Set<ObjectPlace>? = nil) {
    dropWindows()
    reader.everythingChanged()
    checkPropertyObservers(of: touched)
    allTrackedReadsDidChange()
  }

  /// A read of an object that is gone: another thread or process may have deleted it, so it is never more than logged.
  func readOfNothing(_ error: StoreError) {
    if configuration.misuse != .ignore { StoreLog.warning("\(error)") }
  }

  /// What cannot be thrown where it happened: mistakes of the program go by `MisusePolicy`, everything else is logged.
  /// - Parameter place: the line of the program that asked for it, where that is known.
  func misuse(_ error: StoreError, at place: SourcePlace? = nil) {
    guard error.isMistakeOfProgram else { return readOfNothing(error) }
    if configuration.misuse == .ignore { return }
    let said = "\(error)\(place.map { " Asked at \($0)." } ?? "")"
    if configuration.misuse == .trapInDebug { assertionFailure(said) }
    StoreLog.warning(said)
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
