import Dispatch
import Foundation
import StorageInterface
import StoreValues

extension Store {
  /// Opens a store without blocking the caller: another thread opens, migrates and indexes the file and calls `progress`.
  /// Cancelling the task ends it with `.cancelled` and leaves the file unchanged.
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

  /// Reports what opening the store would do to the file: tries it, including the migration, and writes nothing. Waits for other
  /// writers as opening does. A missing file is made, empty or as the copy of the seed. An error is in the report's `failure`.
  public static func dryRun(_ configuration: Configuration) throws(StoreError) -> MigrationReport {
    let faults = configuration.schema.faults()
    if !faults.isEmpty { throw .schemaMismatch(faults) }
    // A file that is not there yet is made, as by opening: so that it is the seed's copy, and not an empty one.
    let engine = try configuration.openEngine().engine
    return try SchemaUpkeep(engine: engine, configuration: configuration).dryRun()
  }

  /// The schema version of a file, which is neither migrated nor created; nil if there is no file. Throws `.foreignFile` and the
  /// other errors of opening for reading.
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

  /// The schema version of the file.
  public var schemaVersion: UInt64 { reading.catalog.schemaVersion }

  /// The named migrations that the file has recorded, in order, with their times.
  ///
  /// A file with a migration that the program does not list is rejected with `.newerSchema`; the detail "migration" names it. To
  /// bring a file only to an earlier step, as tests do, list the migrations up to that step.
  public var completedMigrations: [CompletedMigration] { reading.catalog.completedMigrations }

  /// Whether the file has recorded a named migration.
  public func hasCompleted(_ migration: String) -> Bool { completedMigrations.contains { $0.name == migration } }
}
