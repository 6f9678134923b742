import QueryEngine
import StorageInterface
import StoreValues

/// The state with which a store reads. Confined like its store, which owns it.
///
/// Its methods change only it and contexts, and call nothing that accesses the store, so no access to it spans another.
struct StoreReader {
  /// Why no newer version can be read: a newer program has migrated the file. The store keeps its version for good.
  enum Outdated {
    case found(StoreError)
    /// The store's observers have been notified.
    case notified(StoreError)

    var error: StoreError { switch self { case .found(let error), .notified(let error): error } }
  }

  // The version to read, and the open write on top of it.
  private(set) var snapshot: any ReadTransaction
  /// The snapshot's entry in the list of held versions; nil while none is held.
  var hold: VersionHold?
  private(set) var outdated: Outdated?
  /// The open write if there is one, otherwise the snapshot; and its windows, if the engine lends them.
  private(set) var reading: any StorageReading
  private(set) var windowed: (any WindowedReading)?
  /// The version that frozen objects read.
  weak var sharedVersion: SharedVersion?

  /// Unfinished walks over long collections.
  var walks: [WeakWalk] = []

  /// The contexts of the types used so far.
  private var contexts: [(type: ObjectIdentifier, context: ModelContext)] = []
  fileprivate var lastContext: (type: ObjectIdentifier, context: ModelContext)?
  /// Whether any window is open; spares bulk loads from closing none.
  var hasWindows = false
  /// Increases whenever anything that is read may have changed.
  private(set) var tick: UInt64 = 0

  /// The commits before the version that is read.
  private var trail = CommitTrail()

  /// Recently bound queries, and how many were ever bound.
  var latelyBound: [BoundQuery] = []
  var boundCount = 0
  /// The number of queries run, and of lookups of an object's position in an order; for tests.
  var evaluationCount = 0
  var placesRead = 0

  init(_ snapshot: any ReadTransaction) {
    self.snapshot = snapshot
    reading = snapshot
    windowed = snapshot.powers.windows
  }

  /// Whether frozen objects share the snapshot, behind one lock: then it ends with its last reader, not when the store moves on.
  var isSnapshotShared: Bool { snapshot is SharedVersion }

  /// Changes the snapshot to read while no write is open; `reading` stays for now. `listed` lists the store if it held no version.
  mutating func move(to next: any ReadTransaction, _ listed: @autoclosure () -> VersionHold) {
    snapshot = next
    if let hold { hold.move(to: next.version) } else { hold = listed() }
  }

  /// Records that no newer version can be read.
  mutating func end(_ error: StoreError) { if outdated == nil { outdated = .found(error) } }

  /// Whether observers of the store must still be notified of that. Marks them as notified.
  mutating func notifiesOutdated() -> Bool {
    guard case .found(let error)? = outdated else { return false }
    outdated = .notified(error)
    return true
  }

  /// The commits after a version, up to the snapshot's; nil if they are too many or unknown.
  mutating func commits(after version: Version) -> ArraySlice<CommitRecord>? { trail.commits(after: version, to: snapshot) }

  /// Reads the same version through the transaction that frozen objects share.
  mutating func share(_ made: SharedVersion) { snapshot = made }

  /// Reads from another transaction from now on: every value read before may differ.
  mutating func read(from transaction: any StorageReading) {
    dropWindows()
    reading = transaction
    windowed = transaction.powers.windows
    everythingChanged()
  }

  mutating func dropWindows() {
    guard hasWindows else { return }
    for (_, context) in contexts { context.dropWindows() }
    hasWindows = false
  }

  mutating func everythingChanged() {
    tick &+= 1
    for (_, context) in contexts {
      context.tick &+= 1
      context.raw.pointee.membershipTick &+= 1
    }
  }

  /// Call after changing a value of the type.
  mutating func didChange(_ context: ModelContext) {
    dropWindows()
    tick &+= 1
    context.tick &+= 1
  }
}

// MARK: - Types

extension StoreReader {
  var allContexts: some Collection<ModelContext> { contexts.lazy.map(\.context) }

  fileprivate func context(_ type: ObjectIdentifier) -> ModelContext? { contexts.first { $0.type == type }?.context }
  fileprivate mutating func add(_ context: ModelContext, for type: ObjectIdentifier) { contexts.append((type, context)) }
}

extension Store {
  /// The context of a type. A type that the store does not have gets one without a table.
  @usableFromInline func context<T: Model>(_ type: T.Type) -> ModelContext {
    let id = ObjectIdentifier(type)
    if let last = reader.lastContext, last.type == id { return last.context }
    let context = reader.context(id) ?? makeContext(id, T._$schema)
    reader.lastContext = (id, context)
    return context
  }

  private func makeContext(_ id: ObjectIdentifier, _ schema: ObjectSchema) -> ModelContext {
    let isListed = configuration.models.contains { $0._$objectType == id }
    let context = ModelContext(self, schema, in: isListed ? reading.catalog : Catalog())
    reader.add(context, for: id)
    reportReads(of: context)
    return context
  }

  /// The object with a key, which is not looked up.
  func live<T: Model>(_ key: Int64) -> T { T(_$handle: ModelHandle(context(T.self).raw, key, self)) }
}

// MARK: - What others read of it

extension Store {
  var snapshot: any ReadTransaction { reader.snapshot }
  var reading: any StorageReading {
    assert(reportsReadElsewhere())
    return reader.reading
  }
  var windowed: (any WindowedReading)? {
    assert(reportsReadElsewhere())
    return reader.windowed
  }
  var tick: UInt64 { reader.tick }
  var allContexts: some Collection<ModelContext> { reader.allContexts }
  /// Whether `invalidate()` was called and no version has been read since.
  var isInvalidated: Bool { reader.hold == nil }
  /// Why no newer version can be read; nil while one can.
  package var outdated: StoreError? { reader.outdated?.error }

  package var boundCount: Int { reader.boundCount }
  package var evaluationCount: Int { reader.evaluationCount }
  package var placesRead: Int { reader.placesRead }
}
