import ChangeTracker
import StorageInterface
import StoreValues

/// What opening a file does, or would do, to bring it to the program's models.
public struct MigrationReport: Sendable {
  /// The schema version of the file and that of the program.
  public var versions: (old: UInt64, new: UInt64)
  /// The changes of the schema.
  public var steps: [CatalogStep] = []
  /// What the objects that are there get and lose in single properties by those changes alone; what a migration's own steps do besides is
  /// counted in `changedObjects`. Known to a dry run.
  public var outcomes: [PropertyOutcome] = []
  /// Named migrations that run.
  public var migrations: [String] = []
  /// Objects of each type that come to be, go, or have a value changed.
  public var changedObjects: [String: Int] = [:]
  /// Why it fails; nil when it does not.
  public var failure: (any Error)?

  /// Nothing is to be done.
  public var isEmpty: Bool { steps.isEmpty && migrations.isEmpty && versions.old == versions.new && changedObjects.isEmpty }
}

/// How far the opening of a store is.
public struct MigrationProgress: Sendable, Hashable {
  /// Objects that were looked at, and how many there are to look at, as far as that is known.
  public var done: Int
  /// See `done`.
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
