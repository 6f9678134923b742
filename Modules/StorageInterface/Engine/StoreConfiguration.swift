import StoreValues

/// The location of a store, its types and its behaviour: everything needed to open it, as a `Sendable` value. The public name
/// is `Store.Configuration`; `.lmdb(…)`, `.sqlite(…)` or `.memory(…)` create one, each from the module of its backend:
///
/// ```swift
/// import Vivarium
/// import StorageLMDB
/// let store = try Store(.lmdb(url, models: Person.self, Dog.self))
/// ```
public struct StoreConfiguration: Sendable {
  /// The kind of engine, and the location of the data.
  public var backend: any StorageBackend
  /// The model types. The store holds exactly these; others in the file are left alone.
  public var models: [any SchemaDescribing.Type]
  /// How the engine opens the file.
  public var options: OpenOptions
  /// The path of a store, such as one in the app's bundle: where there is no file yet, opening copies this one, and then migrates the
  /// copy as it would any older file. nil: a new store is empty.
  ///
  /// ```swift
  /// configuration.seed = "/usr/share/atlas/world.store"
  /// ```
  ///
  /// The seed was written by the same engine, by `Store.writeCopy(to:)` for example; it is only read, and may lie where nobody may
  /// write. It has this store's key, or is not encrypted: the copy of a plain seed gets the store's key. A process that is killed
  /// leaves no file or a whole one, and of several processes that open the store at once each finds the first one's copy.
  ///
  /// Opening throws the error of a missing (`.fileNotFound`) or damaged (`.corrupt`) seed with its path, and leaves no file. Ignored
  /// for a file that exists, and with options that make none; `.unsupported` in memory.
  public var seed: String?
  /// What a returned `write` survives; each write can override it.
  public var durability: Durability
  /// How long a write waits for other writers; nil: indefinitely.
  public var writeTimeout: Duration?
  /// The reaction to mistakes of the program that cannot be thrown.
  public var misuse: MisusePolicy
  /// Whether the store moves to new versions automatically, at its context's next turn.
  public var autorefresh: Bool
  /// Whether observers in a store without a context (opened in code that is not isolated to an actor) are notified manually:
  /// inside `refresh()`, and of the store's own writes. Otherwise nobody would ever notify them, so observing there throws
  /// `.wrongContext` at once.
  public var manualDelivery: Bool
  /// The author in each commit record, unless a write names another.
  public var author: String?
  /// Whether commits of this store record the old and new values of scalars in the history: see `Store.commits(since:)`. The
  /// history then takes more space, and each value is read before it is set.
  public var recordsValues: Bool
  /// The version of the models, to be raised whenever a file needs a migration to be used with them. A file with a higher
  /// version is rejected.
  public var schemaVersion: UInt64
  /// Types with a different name in older files: new names by old ones. Their objects stay unchanged.
  public var renamedTypes: [String: String]
  /// What to do with properties that a file has and the models do not, by `"Type.property"`. Without an entry, a property with
  /// values is never lost: a migration that does not consider it, and a type that gains others, are rejected.
  ///
  /// ```swift
  /// configuration.unlistedProperties = ["Person.fax": .remove]
  /// ```
  public var unlistedProperties: [String: UnlistedProperty]
  /// For development: a file that would need a migration is deleted instead, with its contents.
  public var deletesIfMigrationNeeded: Bool
  /// How old files are migrated; its type is known to the module that opens stores.
  package var migrationPlan: (any Sendable)?
  /// Completes each write before it commits, a `CommitCompanion`; its type is known to the module that records writes.
  package var companion: (any Sendable)?
  /// The label under which the versions that its stores hold are listed, see `Store.heldVersions()`.
  public var label: String?
  /// Limits for the old versions that readers may keep alive.
  public var versions: VersionPolicy
  /// Called each time a store is opened for writing, with the size of its files and the size of its newest version in bytes:
  /// true returns the free space to the system, as `Store.compact()` does. A failure of that does not fail the opening.
  ///
  /// ```swift
  /// configuration.compactsWhenOpened = { fileBytes, liveBytes in fileBytes > 100 << 20 && fileBytes > 2 * liveBytes }
  /// ```
  public var compactsWhenOpened: (@Sendable (_ fileBytes: Int, _ liveBytes: Int) -> Bool)?

  public init(backend: any StorageBackend, models: [any SchemaDescribing.Type]) {
    self.backend = backend
    self.models = models
    options = OpenOptions()
    seed = nil
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

/// The reaction to a mistake of the program that cannot be thrown where it is made: setting a property outside a write, using a
/// store outside its context, an invalid query. Effects of data, the disk, other threads or other processes are not mistakes
/// and never stop a build: a rejected edit in a write is thrown when the write ends, and a position out of range or a deleted
/// object reads as nothing and is logged.
public enum MisusePolicy: Sendable, Hashable {
  /// Stops a debug build at the mistake; a release build logs it and ignores the call.
  case trapInDebug
  /// Logs it and ignores the call.
  case log
  /// Ignores the call without logging.
  case ignore
}
