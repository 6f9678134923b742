import Dispatch
import Foundation
import Notifications
import StorageInterface
import StoreValues

extension Store {
  /// Opens a store in the context of the caller: its actor, if it has one. Without one, nothing is delivered automatically until an
  /// actor observes; `refresh()` delivers on request.
  ///
  /// Creates a missing file, as a copy of the configuration's `seed` if there is one, and adds whatever the models need and the file
  /// lacks. Blocks meanwhile; `open` does not.
  public convenience init(
    _ configuration: Configuration, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
  ) throws(StoreError) {
    try self.init(
      configuration, try Store.prepare(configuration), home: isolation.map { .actor($0) } ?? .manual, place: "\(fileID):\(line)")
  }

  /// Opens a store for a serial queue: the store and its objects are used there, and observers run there.
  public convenience init(
    _ configuration: Configuration, queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line
  ) throws(StoreError) {
    Store.identity(of: queue)
    try self.init(configuration, try Store.prepare(configuration), home: .queue(queue), place: "\(fileID):\(line)")
  }

  /// Opens a store for the thread of a run loop, which must run for observers to be notified.
  public convenience init(
    _ configuration: Configuration, runLoop: RunLoop, fileID: StaticString = #fileID, line: UInt = #line
  ) throws(StoreError) {
    try self.init(configuration, try Store.prepare(configuration), home: .runLoop(runLoop), place: "\(fileID):\(line)")
  }

  /// Opens a store without blocking the caller: another thread prepares file and schema.
  public static func open(
    _ configuration: Configuration, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
  ) async throws(StoreError) -> Store {
    let prepared = try await prepareElsewhere(configuration)
    return try Store(
      configuration, prepared, home: isolation.map { .actor($0) } ?? .manual, place: "\(fileID):\(line)")
  }

  /// Calls `prepare` on a system thread.
  static func prepareElsewhere(
    _ configuration: Configuration, isolation: isolated (any Actor)? = #isolation
  ) async throws(StoreError) -> PreparedStore {
    let result: Result<PreparedStore, StoreError> = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: Result { () throws(StoreError) in try prepare(configuration) })
      }
    }
    return try result.get()
  }

  /// Under this key each queue that has stores keeps its own identity, for code that runs there to be known by.
  static let currentQueue = DispatchSpecificKey<ObjectIdentifier>()

  /// Opens the engine and brings the file's schema up to the models'. One error lists every fault, of the models and against the
  /// file.
  static func prepare(
    _ configuration: Configuration, progress: (@Sendable (MigrationProgress) -> Void)? = nil, flag: StopFlag? = nil
  ) throws(StoreError) -> PreparedStore {
    let schema = configuration.schema
    let faults = configuration.models.compactMap(superclassFault)
    // Faulty models must not create a file.
    if !faults.isEmpty || !schema.faults().isEmpty {
      throw .schemaMismatch(faults + allFaults(of: schema, against: configuration))
    }
    let (engine, isSeeded) = try configuration.openEngine(flag: flag)
    if configuration.options.isReadOnly {
      try checkReadable(engine, schema, configuration)
      return PreparedStore(shared: .of(engine), steps: [])
    }
    do throws(StoreError) {
      let upkeep = SchemaUpkeep(engine: engine, configuration: configuration, progress: progress, flag: flag)
      let steps = try upkeep.run()
      compactIfWanted(engine, configuration)
      return PreparedStore(shared: .of(engine), steps: steps)
    } catch {
      // A file that fits may be refused by what follows its commits: that is no reason to delete it, with what waits in it to be sent.
      guard error.code == .schemaMismatch, configuration.deletesIfMigrationNeeded, !(error.underlying is StorageError) else { throw error }
      engine.close()
      try storing { () throws(StorageError) in try configuration.backend.remove() }
      var fresh = configuration
      fresh.deletesIfMigrationNeeded = false
      // The seed needs the migration too.
      if isSeeded { fresh.seed = nil }
      return try prepare(fresh, progress: progress, flag: flag)
    }
  }

  /// Compacts the file if the configuration asks for it. On an error, the next opening tries again.
  private static func compactIfWanted(_ engine: any StorageEngine, _ configuration: Configuration) {
    guard let isWanted = configuration.compactsWhenOpened, let space = engine.powers.space,
      let statistics = try? engine.statistics(), isWanted(statistics.fileBytes, statistics.liveBytes)
    else { return }
    _ = try? space.reclaimSpace(configuration.writeTimeout.map { .after($0) } ?? .never)
  }

  /// The models' faults, and those against the file if it exists.
  private static func allFaults(of schema: Schema, against configuration: Configuration) -> [SchemaFault] {
    guard configuration.backend.isPresent(), let engine = try? configuration.backend.open(configuration.options),
      let read = try? engine.beginRead()
    else { return schema.faults() }
    defer { read.end() }
    do throws(CatalogConflict) {
      _ = try read.catalog.adopting(schema, unlisted: configuration.unlistedProperties)
      return schema.faults()
    } catch {
      return error.faults
    }
  }

  /// The fault of a model with a superclass, whose state and initialisers no store knows; on Darwin it may not even be a Swift
  /// class. A macro sees only names and cannot distinguish it from a protocol.
  private static func superclassFault(_ model: any SchemaDescribing.Type) -> SchemaFault? {
    // A cast to `Model` would, the first time, search the conformances of every library in the process.
    guard let object = model as? AnyClass, let superclass = _getSuperclass(object) else { return nil }
    return SchemaFault(
      type: model._$schema.name, property: nil, message: "inherits from '\(superclass)', and a model has no superclass")
  }

  /// Checks a file opened for reading only: it must already have everything, in this version of the schema.
  private static func checkReadable(
    _ engine: any StorageEngine, _ schema: Schema, _ configuration: Configuration
  ) throws(StoreError) {
    let read = try storing { () throws(StorageError) in try engine.beginRead() }
    defer { read.end() }
    if let refusal = configuration.refusal(of: read.catalog) { throw refusal }
    let missing = try read.catalog.extended(by: schema).steps.filter { !$0.isOfIndexes }
    if !missing.isEmpty { throw .lacking(missing, configuration.backend.location) }
  }

  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

/// An engine whose file has everything the models need, and the steps that this took.
struct PreparedStore: Sendable {
  let shared: SharedEngine
  let steps: [CatalogStep]
}

extension Catalog {
  /// The catalog extended by a schema; no steps if it has everything already.
  fileprivate func extended(by schema: Schema) throws(StoreError) -> (catalog: Catalog, steps: [CatalogStep]) {
    do throws(CatalogConflict) {
      return try adopting(schema)
    } catch {
      throw .schemaMismatch(error.faults)
    }
  }
}

extension StoreError {
  fileprivate static func lacking(_ steps: [CatalogStep], _ location: String) -> StoreError {
    let list = steps.map(\.description).joined(separator: "; ")
    return StoreError(
      .readOnly, "'\(location)' lacks what the models have, and was opened for reading alone: \(list).",
      remedy: "Open it for writing once, or leave these models out.", details: ["missing": list])
  }
}

/// Runs calls of the storage interface and converts their errors to store errors.
func storing<R>(_ body: () throws(StorageError) -> R) throws(StoreError) -> R {
  do throws(StorageError) { return try body() } catch { throw StoreError(error) }
}
