import ChangeTracker
import Dispatch
import Foundation
import Notifications
import Storage
import Values

extension Store {
  /// Opens a store in the context of the caller: its actor, if it has one. Elsewhere nothing is delivered by itself
  /// until an actor observes; `refresh()` does it by hand.
  ///
  /// Creates the file when it is missing and adds what the models have more than the file. Blocks for as long as that takes;
  /// see `open` for a way that does not.
  public convenience init(
    _ configuration: Configuration, isolation: isolated (any Actor)? = #isolation
  ) throws(StoreError) {
    let shared = try Store.prepare(configuration)
    try self.init(configuration, shared, home: isolation.map { .actor($0) } ?? .manual)
  }

  /// Opens a store for a serial queue: it and its objects are used there, and there observers run.
  public convenience init(_ configuration: Configuration, queue: DispatchQueue) throws(StoreError) {
    queue.setSpecific(key: Store.currentQueue, value: ObjectIdentifier(queue))
    try self.init(configuration, try Store.prepare(configuration), home: .queue(queue))
  }

  /// Opens a store for the thread of a run loop, which must run for observers to hear anything.
  public convenience init(_ configuration: Configuration, runLoop: RunLoop) throws(StoreError) {
    try self.init(configuration, try Store.prepare(configuration), home: .runLoop(runLoop))
  }

  /// Opens a store without blocking the caller: file and schema are made ready on another thread.
  public static func open(
    _ configuration: Configuration, isolation: isolated (any Actor)? = #isolation
  ) async throws(StoreError) -> Store {
    let result: Result<SharedEngine, StoreError> = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: Result { () throws(StoreError) in try prepare(configuration) })
      }
    }
    return try Store(configuration, try result.get(), home: isolation.map { .actor($0) } ?? .manual)
  }

  static let currentQueue = DispatchSpecificKey<ObjectIdentifier>()

  /// Opens the engine and brings the file's schema up to the models'.
  private static func prepare(_ configuration: Configuration) throws(StoreError) -> SharedEngine {
    let schema = configuration.schema
    let faults = schema.faults() + configuration.models.compactMap(superclassFault)
    if !faults.isEmpty { throw .schemaMismatch(faults) }
    let engine = try storing { () throws(StorageError) in try configuration.backend.open(configuration.options) }
    let read = try storing { () throws(StorageError) in try engine.beginRead() }
    defer { read.end() }
    if try read.catalog.extended(by: schema) != nil { try extend(engine, by: schema, configuration) }
    return SharedEngine.of(engine)
  }

  /// A superclass has state and initialisers that no store knows, and on Darwin may not even be Swift's. A macro sees
  /// only names and cannot tell it from a protocol.
  private static func superclassFault(_ model: any SchemaDescribing.Type) -> SchemaFault? {
    guard let model = model as? any Model.Type, let superclass = _getSuperclass(model) else { return nil }
    return SchemaFault(
      type: model._$name, property: nil, message: "inherits from '\(superclass)', and a model has no superclass")
  }

  private static func extend(
    _ engine: any StorageEngine, by schema: Schema, _ configuration: Configuration
  ) throws(StoreError) {
    let deadline = configuration.writeTimeout.map { Deadline.after($0) } ?? .never
    let write = RecordedTransaction(
      try storing { () throws(StorageError) in try engine.beginWrite(deadline) }, origin: 0)
    defer { write.end() }
    // Somebody else may have done it in between.
    guard let catalog = try write.transaction.catalog.extended(by: schema) else { return }
    try storing { () throws(StorageError) in
      try write.setCatalog(catalog)
      _ = try write.commit(author: configuration.author, timeMilliseconds: Store.now, configuration.durability)
    }
  }

  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

extension Catalog {
  /// nil when the catalog has everything already.
  fileprivate func extended(by schema: Schema) throws(StoreError) -> Catalog? {
    do throws(CatalogConflict) {
      let (catalog, steps) = try adopting(schema)
      return steps.isEmpty ? nil : catalog
    } catch {
      throw .schemaMismatch(error.faults)
    }
  }
}

/// Runs calls of the seam and gives their errors the face's form.
func storing<R>(_ body: () throws(StorageError) -> R) throws(StoreError) -> R {
  do throws(StorageError) { return try body() } catch { throw StoreError(error) }
}
