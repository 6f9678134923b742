import Dispatch
import Foundation
import StorageInterface
import StoreValues

extension Store {
  /// Opens a store without blocking the caller: the file is opened, migrated and indexed on another thread, `progress` hears
  /// from there how far it is, and cancelling the task ends it with `.cancelled` and the file as it was.
  public static func open(
    _ configuration: Configuration, progress: @escaping @Sendable (MigrationProgress) -> Void,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
  ) async throws(StoreError) -> Store {
    let flag = StopFlag()
    let result: Result<PreparedStore, StoreError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            returning: Result { () throws(StoreError) in try prepare(configuration, progress: progress, flag: flag) })
        }
      }
    } onCancel: {
      flag.stop()
    }
    return try Store(
      configuration, try result.get(), home: isolation.map { .actor($0) } ?? .manual,
      place: "\(fileID):\(line)")
  }

  /// What opening the store would do to the file: tries it, the migration included, and writes nothing. Waits for other
  /// writers as an opening does. What would fail is in the report's `failure`.
  public static func dryRun(_ configuration: Configuration) throws(StoreError) -> MigrationReport {
    let faults = configuration.schema.faults()
    if !faults.isEmpty { throw .schemaMismatch(faults) }
    let engine = try storing { () throws(StorageError) in try configuration.backend.open(configuration.options) }
    return try SchemaUpkeep(engine: engine, configuration: configuration).dryRun()
  }

  /// The version of the schema that a file is at, without its being migrated or made: nil where there is no file. `.foreignFile` and what
  /// else opening for reading throws.
  public static func schemaVersion(of configuration: Configuration) throws(StoreError) -> UInt64? {
    var options = configuration.options
    (options.isReadOnly, options.createsIfMissing) = (true, false)
    do throws(StorageError) {
      let read = try configuration.backend.open(options).beginRead()
      defer { read.end() }
      return read.catalog.schemaVersion
    } catch {
      if error.code == .fileNotFound { return nil }
      throw StoreError(error)
    }
  }

  /// The version of the schema that the file is at.
  public var schemaVersion: UInt64 { reading.catalog.schemaVersion }

  /// The named migrations that the file has seen, in order, and when.
  ///
  /// A file that has seen one that the program does not list is refused with `.newerSchema`; the detail "migration" names it.
  /// To bring a file only as far as an earlier step, as tests do, list the migrations up to that step.
  public var completedMigrations: [CompletedMigration] { reading.catalog.completedMigrations }

  /// Whether the file has seen a named migration.
  public func hasCompleted(_ migration: String) -> Bool { completedMigrations.contains { $0.name == migration } }
}
