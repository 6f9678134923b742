import StorageInterface
import StoreValues

/// A step in the life of a schema with a name of its own. It runs once on each file, in the order of the list, and the file
/// remembers it.
public struct NamedMigration: Sendable {
  /// By what the file remembers that it ran: give it another, and it runs again.
  public let name: String
  let body: @Sendable (Migration) throws -> Void

  /// A step with a name that no other has. When `body` throws, opening fails with `.migrationFailed` and the file is as it was.
  public init(_ name: String, _ body: @escaping @Sendable (Migration) throws -> Void) {
    self.name = name
    self.body = body
  }
}

/// How old files are brought to the program's models.
struct MigrationPlan: Sendable {
  var block: (@Sendable (Migration, _ oldVersion: UInt64) throws -> Void)?
  var named: [NamedMigration] = []
}

extension StoreConfiguration {
  private var plan: MigrationPlan {
    get { migrationPlan as? MigrationPlan ?? MigrationPlan() }
    set { migrationPlan = newValue }
  }

  /// Called when `schemaVersion` is higher than the file's, with the file's version: brings what cannot be seen from the
  /// models, such as how one property follows from two others.
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
  /// When it throws, the file stays as it was, and opening throws the same error.
  public var migration: (@Sendable (Migration, _ oldVersion: UInt64) throws -> Void)? {
    get { plan.block }
    set { plan.block = newValue }
  }

  /// Migrations by name, in order. Those that the file has not seen run when it is opened, after `migration`; on a new file
  /// none runs, and all count as done.
  public var migrations: [NamedMigration] {
    get { plan.named }
    set { plan.named = newValue }
  }
}
