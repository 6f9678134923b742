import ChangeTracker
import Foundation
import StorageInterface
import StoreValues

/// Brings a file's schema to the program's when a store is opened, completely or not at all.
struct SchemaUpkeep {
  let engine: any StorageEngine
  let configuration: StoreConfiguration
  var progress: (@Sendable (MigrationProgress) -> Void)?
  /// Checked regularly for cancellation.
  var flag: StopFlag?

  private enum Need {
    case nothing
    /// Only additions that need no look at objects.
    case addition(Catalog, [CatalogStep])
    case migration
  }

  /// Throws `.schemaMismatch`, `.newerSchema`, `.uniqueViolation`, `.migrationFailed` with the error of a block, `.cancelled`, or
  /// the engine's error.
  func run() throws(StoreError) -> [CatalogStep] {
    let read = try storing { () throws(StorageError) in try engine.beginRead() }
    defer { read.end() }
    if case .nothing = try need(of: read.catalog) { return [] }
    try checkWanted()
    let write = try beginWrite()
    defer { write.end() }
    // Another opener may have done it in between.
    let steps: [CatalogStep]
    switch try need(of: write.transaction.catalog) {
    case .nothing: return []
    case .addition(let catalog, let added):
      steps = added
      try adopt(catalog, added, write)
      try storing { () throws(StorageError) in try write.deriveAll() }
    case .migration: steps = try migrate(write, try plan(from: write.transaction.catalog)).steps
    }
    let warnings = try forgottenNames(steps, write.transaction)
    try storing { () throws(StorageError) in
      _ = try write.commit(author: configuration.author, timeMilliseconds: Store.now, configuration.durability)
    }
    for warning in warnings { StoreLog.warning(warning) }
    return steps
  }

  /// Performs everything but the commit.
  func dryRun() throws(StoreError) -> MigrationReport {
    let write = try beginWrite()
    defer { write.end() }
    let catalog = write.transaction.catalog
    var report = MigrationReport(versions: (catalog.schemaVersion, configuration.schemaVersion))
    do throws(StoreError) {
      switch try need(of: catalog) {
      case .nothing: break
      case .addition(let grown, let steps):
        report.steps = steps
        report.outcomes = try outcomes(steps, nil, grown, write.transaction)
        try adopt(grown, steps, write)
        report.count(write)
      case .migration:
        let plan = try plan(from: catalog)
        report.steps = plan.steps
        let outcomes = try outcomes(plan.steps, plan, plan.finished, write.transaction)
        // Also set for a migration that fails.
        report.outcomes = outcomes
        report = try migrate(write, plan)
        report.outcomes = outcomes
      }
    } catch {
      report.failure = error
    }
    return report
  }

  private func beginWrite() throws(StoreError) -> RecordedTransaction {
    let deadline = configuration.writeTimeout.map { Deadline.after($0) } ?? .never
    return RecordedTransaction(
      try storing { () throws(StorageError) in try engine.beginWrite(deadline) }, origin: 0, recordsValues: false, followsRules: true,
      companion: configuration.commitCompanion)
  }

  func checkWanted() throws(StoreError) {
    if let flag, !flag.isActive { throw StoreError(.cancelled, "The opening was cancelled; the file is as it was.") }
  }

  private func need(of catalog: Catalog) throws(StoreError) -> Need {
    if let refusal = configuration.refusal(of: catalog) { throw refusal }
    let version = configuration.schemaVersion
    let names = configuration.migrations.map(\.name)
    let done = catalog.completedMigrations.map(\.name)
    let isNew = catalog.tables.isEmpty
    if !isNew, version > catalog.schemaVersion || names.contains(where: { !done.contains($0) }) { return .migration }
    do throws(CatalogConflict) {
      let (adopted, steps) = try catalog.adopting(configuration.schema, unlisted: configuration.unlistedProperties)
      var grown = adopted
      if grown.identity == nil { grown.identity = StoreIdentity() }
      if isNew {
        grown.schemaVersion = version
        grown.completedMigrations = names.map { CompletedMigration(name: $0, timeMilliseconds: Store.now) }
      }
      return grown == catalog ? .nothing : .addition(grown, steps)
    } catch {
      throw .schemaMismatch(error.faults)
    }
  }
}

extension SchemaUpkeep {
  private func plan(from catalog: Catalog) throws(StoreError) -> CatalogMigration {
    do throws(CatalogConflict) {
      return try catalog.migrating(
        to: configuration.schema, renamedTypes: configuration.renamedTypes, unlisted: configuration.unlistedProperties)
    } catch {
      throw .schemaMismatch(error.faults)
    }
  }

  private func migrate(_ write: RecordedTransaction, _ plan: CatalogMigration) throws(StoreError) -> MigrationReport {
    // The writer's lock is held, so this is the version that the write began from.
    let old = try storing { () throws(StorageError) in try engine.beginRead() }
    defer { old.end() }
    try checkReplicated(plan.finished, write)
    try storing { () throws(StorageError) in try write.setCatalog(plan.working) }
    let done = Set(old.catalog.completedMigrations.map(\.name))
    let pending = configuration.migrations.filter { !done.contains($0.name) }
    let migration = Migration(old, write, configuration, try counter(of: old))
    try fillAdded(plan, migration)
    for move in plan.moves { try migration.copy(move.from, to: move.to, isLossy: true) }
    do {
      if configuration.schemaVersion > old.catalog.schemaVersion {
        try configuration.migration?(migration, old.catalog.schemaVersion)
        try migration.coverage.checkReads()
      }
      for named in pending {
        try named.body(migration)
        try migration.coverage.checkReads()
      }
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(
        .migrationFailed, "The migration failed, and the file is as it was: \(error)", underlying: error)
    }
    for type in plan.embedded { try embed(type, write) }
    let faults = try unnoticed(plan, migration) + unfinished(migration)
      + strays(from: old.catalog, to: plan.finished, isMigration: true, write.transaction)
    if !faults.isEmpty { throw .schemaMismatch(faults) }
    try storing { () throws(StorageError) in for column in plan.retired { try empty(column, write) } }
    try checkKeys(old.catalog, plan.finished, write.transaction)
    try finish(plan, old.catalog, pending, write)
    var report = MigrationReport(versions: (old.catalog.schemaVersion, configuration.schemaVersion))
    report.steps = plan.steps
    report.migrations = pending.map(\.name)
    report.count(write)
    return report
  }

  /// Sets the declared defaults of new properties in existing objects, before the program's own steps see them. Those steps must
  /// set properties without a default.
  private func fillAdded(_ plan: CatalogMigration, _ migration: Migration) throws(StoreError) {
    let write = migration.write
    var added: [String: Set<String>] = [:]
    for case .addedProperty(let type, let property) in plan.steps {
      // What a link or a collection had as another type follows, instead of the default.
      let isMoved = plan.moves.contains { $0.type == type && $0.property == property }
      let isPlain = plan.working[type]?[property].map { $0.schema.isScalar && !$0.schema.isRelationship } ?? false
      if isMoved, !isPlain { continue }
      added[type, default: []].insert(property)
    }
    for (type, names) in added.sorted(by: { $0.key < $1.key }) {
      guard let defaults = configuration.defaults(of: type, in: plan.working) else { continue }
      _ = try defaults.row()
      for name in defaults.required where names.contains(name) {
        guard let id = defaults.entry[name]?.id else { continue }
        let keys = try storing { () throws(StorageError) in try KeySnapshot(of: defaults.entry.id, in: write.transaction) }.array
        migration.coverage.need(defaults.entry.column(id), keys)
      }
      let evaluated = try defaults.evaluated(of: names)
      if evaluated.isEmpty { continue }
      for property in try fill(type, evaluated, write) {
        migration.coverage.need(property.column, property.keys, withheld: property.reason)
      }
    }
  }

  /// Builds the indexes, now that the objects are final, and records version and migrations in the file.
  private func finish(
    _ plan: CatalogMigration, _ old: Catalog, _ pending: [NamedMigration], _ write: RecordedTransaction
  ) throws(StoreError) {
    var catalog = plan.finished
    catalog.schemaVersion = configuration.schemaVersion
    if catalog.identity == nil { catalog.identity = StoreIdentity() }
    catalog.completedMigrations =
      old.completedMigrations + pending.map { CompletedMigration(name: $0.name, timeMilliseconds: Store.now) }
    do throws(StorageError) {
      try write.setCatalog(catalog)
      try write.deriveAll()
      try write.removeOrphans()
    } catch {
      let table = catalog.tables.first { $0.indexes.contains { $0.id == error.index } }
      throw StoreError(error, in: catalog, type: table?.name ?? "")
    }
  }

  /// Counts migrated objects, reports progress, and throws if cancelled.
  private func counter(of old: any ReadTransaction) throws(StoreError) -> () throws(StoreError) -> Void {
    var total = 0
    for table in old.catalog.tables { total += try storing { () throws(StorageError) in try old.count(table.id) } }
    var done = 0
    let whole = total
    return { () throws(StoreError) in
      done += 1
      if done % 64 == 0 || done == whole {
        try checkWanted()
        progress?(MigrationProgress(done: done, total: max(done, whole)))
      }
    }
  }

  /// Objects of a type that becomes embedded: deletes those without an owner, rejects those with two.
  private func embed(_ type: String, _ write: RecordedTransaction) throws(StoreError) {
    guard let table = write.transaction.catalog[type] else { return }
    let catalog = write.transaction.catalog
    let owners = catalog.tables.flatMap { source in
      source.columns.filter { $0.schema.isRelationship && $0.schema.isStored && $0.schema.target == type && !$0.isRetired }
        .map { source.column($0.id) }
    }
    let keys = try storing { () throws(StorageError) in try KeySnapshot(of: table.id, in: write.transaction) }.array
    for key in keys {
      var count = 0
      try storing { () throws(StorageError) in
        for column in owners {
          try write.transaction.sources(of: ObjectKey(key), through: column) { sources in
            count += sources.count
            return .proceed
          }
        }
        if count == 0 { try write.deleteAlone(table.id, ObjectKey(key)) }
      }
      if count > 1 {
        throw StoreError(
          .alreadyOwned, "The \(type) object #\(key) is linked \(count) times, and '\(type)' becomes embedded.",
          remedy: "Give each owner an object of its own in the migration.", details: ["type": type, "key": "\(key)"])
      }
    }
  }

  /// Clears the values of a column that is no longer used.
  func empty(_ column: ColumnID, _ write: RecordedTransaction) throws(StorageError) {
    guard let entry = write.transaction.catalog[column] else { return }
    for key in try KeySnapshot(of: column.table, in: write.transaction).array {
      try write.noteRelease(of: column, ObjectKey(key))
      if entry.schema.isScalar {
        try write.transaction.set(column, ObjectKey(key), entry.absentValue)
      } else {
        try write.transaction.edit(column, ObjectKey(key), .clear)
      }
    }
  }
}

extension StoreConfiguration {
  /// The error for a file that a newer program has migrated and this configuration cannot use; nil if it can.
  func refusal(of catalog: Catalog) -> StoreError? {
    if catalog.schemaVersion > schemaVersion {
      return .newerSchema(file: catalog.schemaVersion, program: schemaVersion)
    }
    // Checked at each move to another version; most files have none.
    if catalog.completedMigrations.isEmpty { return nil }
    let names = migrations.map(\.name)
    guard !names.isEmpty, let later = catalog.completedMigrations.first(where: { !names.contains($0.name) }) else {
      return nil
    }
    return .newerSchema(file: catalog.schemaVersion, program: schemaVersion, migration: later.name)
  }
}

extension StoreError {
  fileprivate static func newerSchema(file: UInt64, program: UInt64, migration: String? = nil) -> StoreError {
    var details = ["fileVersion": "\(file)", "programVersion": "\(program)"]
    if let migration { details["migration"] = migration }
    let what = migration.map { "had the migration '\($0)', which this program does not know" }
      ?? "has schema version \(file), and this program is of version \(program)"
    return StoreError(.newerSchema, "The file \(what).", remedy: "Use the newer program.", details: details)
  }
}
