import StorageInterface
import StoreValues

/// A named step in the evolution of a schema. Runs once on each file, in the order of the list; the file records it.
public struct NamedMigration: Sendable {
  /// The name by which the file records that it ran. A renamed migration runs again.
  public let name: String
  let body: @Sendable (Migration) throws -> Void

  /// Creates a step with a unique name. If `body` throws, the file is unchanged, and opening throws a `StoreError` of its
  /// own as it is, and anything else as `.migrationFailed`.
  public init(_ name: String, _ body: @escaping @Sendable (Migration) throws -> Void) {
    self.name = name
    self.body = body
  }
}

/// The migrations that bring old files to the program's models.
struct MigrationPlan: Sendable {
  var block: (@Sendable (Migration, _ oldVersion: UInt64) throws -> Void)?
  var named: [NamedMigration] = []
}

extension StoreConfiguration {
  private var plan: MigrationPlan {
    get { migrationPlan as? MigrationPlan ?? MigrationPlan() }
    set { migrationPlan = newValue }
  }

  /// Called with the file's version when `schemaVersion` is higher. Performs the changes that the models do not show, such as
  /// computing one property from two others.
  ///
  /// ```swift
  /// configuration.schemaVersion = 2
  /// configuration.migration = { migration, oldVersion in
  ///   if oldVersion < 2 {
  ///     try migration.enumerateObjects(ofType: "Person") { old, new in
  ///       try new?.set("name", to: .string("\(old["first"]) \(old["last"])"))
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// If it throws, the file is unchanged, and opening throws the error: a `StoreError` as it is, another in `.migrationFailed`.
  public var migration: (@Sendable (Migration, _ oldVersion: UInt64) throws -> Void)? {
    get { plan.block }
    set { plan.block = newValue }
  }

  /// Named migrations, in order. Those that the file has not recorded run when it is opened, after `migration`. On a new file none
  /// runs, and all count as completed.
  public var migrations: [NamedMigration] {
    get { plan.named }
    set { plan.named = newValue }
  }
}
