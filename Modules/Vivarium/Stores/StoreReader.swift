import QueryEngine
import StorageInterface
import StoreValues

/// What a store reads, and what it made to read it. Confined like its store, which owns it.
///
/// Its methods change it and contexts, and call nothing that looks at the store: an access to it never spans another.
struct StoreReader {
  /// Why nothing newer can be read any more: a newer program has migrated the file. The store stays where it is, for good.
  enum Outdated {
    case found(StoreError)
    /// The store's observers have heard of it.
    case notified(StoreError)

    var error: StoreError { switch self { case .found(let error), .notified(let error): error } }
  }

  // One version to read, and the write that is open on top of it.
  private(set) var snapshot: any ReadTransaction
  /// The snapshot's line in the list of held versions; nil while none is held.
  var hold: VersionHold?
  private(set) var outdated: Outdated?
  /// The write while there is one, else the snapshot; and its windows, if its engine has them.
  private(set) var reading: any StorageReading
  private(set) var windowed: (any WindowedReading)?
  /// What frozen objects of this version read.
  weak var sharedVersion: SharedVersion?

  /// Walks over long collections that somebody may still take steps of.
  var walks: [WeakWalk] = []

  /// Of the types that were used so far.
  private var contexts: [(type: ObjectIdentifier, context: ModelContext)] = []
  fileprivate var lastContext: (type: ObjectIdentifier, context: ModelContext)?
  /// Whether any window is open; spares a bulk load the closing of none.
  var hasWindows = false
  /// Grows whenever anything that is read may have changed.
  private(set) var tick: UInt64 = 0

  /// What was committed before the version that is read.
  private var trail = CommitTrail()

  /// Queries that were bound lately, and how many ever were.
  var latelyBound: [BoundQuery] = []
  var boundCount = 0
  /// How many queries were run, and how often it was asked where one object stands in an order; for tests.
  var evaluationCount = 0
  var placesRead = 0

  init(_ snapshot: any ReadTransaction) {
    self.snapshot = snapshot
    reading = snapshot
    windowed = snapshot.powers.windows
  }

  /// Frozen objects read the snapshot too, through one lock: it ends with the last of its readers, not when the store moves on.
  var isSnapshotShared: Bool { snapshot is SharedVersion }

  /// Another snapshot to read while no write is open; what is read stays for now. `listed` lists who held none.
  mutating func move(to next: any ReadTransaction, _ listed: @autoclosure () -> VersionHold) {
    snapshot = next
    if let hold { hold.move(to: next.version) } else { hold = listed() }
  }

  /// Nothing newer can be read any more.
  mutating func end(_ error: StoreError) { if outdated == nil { outdated = .found(error) } }

  /// Whether observers of the store have yet to hear of that. From now on they count as notified.
  mutating func notifiesOutdated() -> Bool {
    guard case .found(let error)? = outdated else { return false }
    outdated = .notified(error)
    return true
  }

  /// The commits after a version, up to the snapshot's; nil where they are too many, or not known.
  mutating func commits(after version: Version) -> ArraySlice<CommitRecord>? { trail.commits(after: version, to: snapshot) }

  /// The same version, read through the one that frozen objects have too.
  mutating func share(_ made: SharedVersion) { snapshot = made }

  /// Reads from another transaction from now on: everything that was read before may differ.
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

  /// After a call that changed a value of the type.
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
  /// The context of a type. Types that are not in the store have one without a table.
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
    context.raw.pointee.tracksReads = observing.tracksReads || observing.readTrace != nil
    return context
  }

  /// The object with a key, not looked up.
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
  /// Whether `invalidate()` was called and nothing was read anew since.
  var isInvalidated: Bool { reader.hold == nil }
  /// Why nothing newer can be read any more; nil while it can.
  package var outdated: StoreError? { reader.outdated?.error }

  package var boundCount: Int { reader.boundCount }
  package var evaluationCount: Int { reader.evaluationCount }
  package var placesRead: Int { reader.placesRead }
}
