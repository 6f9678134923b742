import StoreValues

/// Where a store is, which types it holds and how it behaves: everything needed to open it, as a `Sendable`
/// value. People know it as `Store.Configuration` and make one with `.lmdb(…)`, `.sqlite(…)` or `.memory(…)`,
/// each from the module of its backend:
///
/// ```swift
/// import Vivarium
/// import StorageLMDB
/// let store = try Store(.lmdb(url, models: Person.self, Dog.self))
/// ```
public struct StoreConfiguration: Sendable {
  /// What keeps the data, and where.
  public var backend: any StorageBackend
  /// The model types. The store holds exactly these; others in the file are left alone.
  public var models: [any SchemaDescribing.Type]
  /// How the engine opens the file.
  public var options: OpenOptions
  /// What a returned `write` survives; each write can say otherwise.
  public var durability: Durability
  /// How long a write waits for other writers; nil: as long as it takes.
  public var writeTimeout: Duration?
  /// What becomes of a program's mistakes that cannot be thrown.
  public var misuse: MisusePolicy
  /// Whether the store moves to new versions by itself, at its context's next turn.
  public var autorefresh: Bool
  /// Whether observers in a store that has no context (it was opened in code that is no actor's) hear by hand: inside `refresh()`, and of
  /// the store's own writes. Otherwise nobody would ever notify them, so observing there ends with `.wrongContext` at once.
  public var manualDelivery: Bool
  /// The author put into each commit record, unless a write names another.
  public var author: String?
  /// Whether commits of this store say in the history what scalars were and are: see `Store.commits(since:)`. The history
  /// takes more room then, and each value that is set is read first.
  public var recordsValues: Bool
  /// The version of the models, raised whenever a file needs a migration to be used with them. A file of a higher one is
  /// refused.
  public var schemaVersion: UInt64
  /// Types that have another name than in older files: new names by old ones. Their objects stay as they are.
  public var renamedTypes: [String: String]
  /// What is to become of properties that a file has and the models do not, by `"Type.property"`. Without a word here a property that
  /// objects have values in is never lost: a migration that does not look at it, and a type that gains others, are refused.
  ///
  /// ```swift
  /// configuration.unlistedProperties = ["Person.fax": .remove]
  /// ```
  public var unlistedProperties: [String: UnlistedProperty]
  /// For development: a file that would need a migration is deleted instead, with all that is in it.
  public var deletesIfMigrationNeeded: Bool
  /// How old files are migrated; known to the module that opens stores.
  package var migrationPlan: (any Sendable)?
  /// What completes each write before it commits, a `CommitCompanion`; known to the module that records writes.
  package var companion: (any Sendable)?
  /// What the versions that its stores hold are listed under, see `Store.heldVersions()`.
  public var label: String?
  /// How many versions readers may keep alive.
  public var versions: VersionPolicy
  /// Asked each time a store is opened for writing, with the bytes that its files take and those that its newest version
  /// needs: true gives the free space back to the system, as `Store.compact()` does. An opening does not fail by it.
  ///
  /// ```swift
  /// configuration.compactsWhenOpened = { fileBytes, liveBytes in fileBytes > 100 << 20 && fileBytes > 2 * liveBytes }
  /// ```
  public var compactsWhenOpened: (@Sendable (_ fileBytes: Int, _ liveBytes: Int) -> Bool)?

  public init(backend: any StorageBackend, models: [any SchemaDescribing.Type]) {
    self.backend = backend
    self.models = models
    options = OpenOptions()
    durability = .full
    writeTimeout = nil
    misuse = .trapInDebug
    autorefresh = true
    manualDelivery = false
    author = nil
    recordsValues = false
    schemaVersion = 0
    renamedTypes = [:]
    unlistedProperties = [:]
    deletesIfMigrationNeeded = false
    migrationPlan = nil
    companion = nil
    label = nil
    versions = VersionPolicy()
    compactsWhenOpened = nil
  }

  /// The schema that the models declare.
  public var schema: Schema { Schema(models.map { $0._$schema }) }
}

/// What happens on a mistake of the program that cannot be thrown where it is made: setting a property outside a write, using a store
/// elsewhere than in its context, a question that cannot be asked. What data, the disk, other threads or other processes can bring about is
/// no mistake and never stops a build: a refused edit in a write is thrown when the write ends, a position outside or an object
/// that is gone reads as nothing and is logged.
public enum MisusePolicy: Sendable, Hashable {
  /// Stops a debug build at the mistake; a release build logs it and ignores the call.
  case trapInDebug
  /// Logs it and ignores the call.
  case log
  /// Ignores the call, and logs nothing.
  case ignore
}
