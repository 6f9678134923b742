import ChangeTracker
import StorageInterface
import StoreValues

/// The changes that opening a file makes, or would make, to bring it to the program's models.
public struct MigrationReport: Sendable {
  /// The schema versions of the file and of the program.
  public var versions: (old: UInt64, new: UInt64)
  /// The changes of the schema.
  public var steps: [CatalogStep] = []
  /// What existing objects gain and lose in single properties by those schema changes alone; changes by a migration's own steps are
  /// counted in `changedObjects`. Filled by a dry run.
  public var outcomes: [PropertyOutcome] = []
  /// The named migrations that run.
  public var migrations: [String] = []
  /// The number of objects of each type that are created, deleted or changed.
  public var changedObjects: [String: Int] = [:]
  /// The error that makes it fail; nil if it succeeds.
  public var failure: (any Error)?

  /// Whether there is nothing to do.
  public var isEmpty: Bool { steps.isEmpty && migrations.isEmpty && versions.old == versions.new && changedObjects.isEmpty }
}

/// The progress of opening a store.
public struct MigrationProgress: Sendable, Hashable {
  /// The number of objects processed; `total` is their number as far as it is known.
  public var done: Int
  /// The number of objects to process, as far as it is known.
  public var total: Int
}

extension MigrationReport {
  /// Counts the objects that a write changed, by their types.
  mutating func count(_ write: RecordedTransaction) {
    for table in write.record.tables {
      let count = table.inserted.count + table.deleted.count + table.modified.count
      if count > 0 { changedObjects[write.transaction.catalog[table.table]?.name ?? "?", default: 0] += count }
    }
  }
}
