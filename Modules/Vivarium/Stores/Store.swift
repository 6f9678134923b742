import ChangeTracker
import Dispatch
import Foundation
import Notifications
import QueryEngine
import StorageInterface
import StoreValues
import Synchronization

/// An open store: finds, writes and observes objects.
///
/// A store is confined to one context (an actor, a serial queue, a thread with a run loop); it and its objects are not `Sendable`.
/// Its configuration and `ObjectReference`s are. All stores of a file share one engine, so opening one for each context is cheap. A
/// store shows one version of the data until it is refreshed: at the context's next turn after a commit by any writer, at
/// `refresh()`, and at each write.
///
/// `StoreReader` has the state for reading, `StoreWriter` that for writing. The store itself does what involves both: it moves to
/// another version, notifies observers, and runs the caller's closures.
public final class Store {
  /// The configuration of a store.
  public typealias Configuration = StoreConfiguration

  /// The configuration it was opened with. Changing a copy has no effect.
  public let configuration: Configuration
  /// The types, properties and indexes that opening this store added to the file or dropped from it, to match the models. Empty if
  /// the file matched.
  public let schemaChanges: [CatalogStep]
  let shared: SharedEngine
  /// The context where observers run. An actor's `init` has no isolation yet, so `.manual` may become an actor later.
  var home: DeliveryContext
  /// Whether a read outside its context was logged.
  let saidReadElsewhere = Atomic(false)
  /// Distinguishes this store's commits from others'.
  let origin = StoreOrigin.next()

  /// The object that a layer above keeps while this store is open; see `StoreCompanion`.
  package private(set) var attachment: (any AnyObject & Sendable)?

  /// The source line that opened it.
  let opener: String
  // Proof for both: a store is used in one context at a time, and no access to them spans a call that accesses the store.
  @exclusivity(unchecked) var reader: StoreReader
  @exclusivity(unchecked) var writer = StoreWriter()
  /// The number of reads of observed properties for comparison, other than those that were set; for tests.
  package var propertyCheckCount = 0
  /// The number of times an observed path was followed; for tests.
  package var pathReadCount = 0

  /// The store's observers, and the version they were notified of.
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
    // A newer program may have migrated the file since it was checked.
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
  /// Reads from another transaction from now on: every value read before may differ.
  func read(from transaction: any StorageReading) {
    if !reader.walks.isEmpty { finishWalks() }
    reader.read(from: transaction)
  }

  /// Computes pending derived properties within an open write.
  func settleDerived() {
    guard let writing, writing.hasUnderived else { return }
    dropWindows()
    do throws(StorageError) { try writing.settleDerived() } catch { misuse(StoreError(error)) }
    reader.everythingChanged()
  }

  func dropWindows() { reader.dropWindows() }

  /// Call after changing a value of the type, or with `membership` after adding or removing objects of it.
  func didChange(_ context: ModelContext, membership: Bool = false) {
    reader.didChange(context)
    if membership {
      context.raw.pointee.membershipTick &+= 1
      context.didChangeMembership()
    }
  }

  /// Call after a change that may affect other types too: a delete removes its object from links.
  /// - Parameter touched: the objects that may have changed; nil: any.
  func didChangeEverything(_ touched: Set<ObjectPlace>? = nil) {
    dropWindows()
    reader.everythingChanged()
    checkPropertyObservers(of: touched)
    allTrackedReadsDidChange()
  }

  /// Reports a read of a deleted object. Only logged, because another thread or process may have deleted it.
  func readOfNothing(_ error: StoreError) { log(error, at: nil) }

  private func log(_ error: StoreError, at place: SourcePlace?) {
    if configuration.misuse != .ignore { StoreLog.warning(error.said(at: place)) }
  }

  /// Reports an error that cannot be thrown where it occurred: misuse as `MisusePolicy` says; everything else is logged.
  /// - Parameter place: the source line that caused it, if known.
  func misuse(_ error: StoreError, at place: SourcePlace? = nil) {
    if error.isMistakeOfProgram, configuration.misuse == .trapInDebug { assertionFailure(error.said(at: place)) }
    log(error, at: place)
  }

  /// A read that cannot throw where it is made. A failure is reported and gives nil; a deleted object gives nil alone.
  @discardableResult
  func reported<R>(_ read: @autoclosure () throws(StorageError) -> R) -> R? {
    do throws(StorageError) { return try read() } catch {
      if error.code != .objectDeleted { misuse(StoreError(error)) }
      return nil
    }
  }
}

extension StoreError {
  /// Whether the error occurs only if the program is wrong, whatever the data, other threads and other processes do.
  fileprivate var isMistakeOfProgram: Bool {
    switch code {
    case .notInWrite, .alreadyInWrite, .wrongContext, .readOnlyOperation, .writeInObserver: true
    default: isMistakeInQuery && details["reason"] != QueryError.Code.badArgument.rawValue
    }
  }

  /// Whether a query is wrong. Of a value in it that cannot be used, as words to look for or a regular expression, the program may be
  /// innocent: somebody may have typed it.
  var isMistakeInQuery: Bool {
    switch code {
    case .invalidQuery, .unknownProperty, .unknownType, .wrongStore: true
    default: false
    }
  }

  fileprivate func said(at place: SourcePlace?) -> String { "\(self)\(place.map { " Asked at \($0)." } ?? "")" }
}
