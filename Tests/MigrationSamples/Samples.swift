import StorageInterface
import StorageLMDB
import StorageSQLite
import Vivarium

/// A store of the first models, and the configuration that migrates it: shared by the test and the process that it kills.
package enum Samples {
  package static let tenantCount = 12

  package static func backend(_ kind: String, _ path: String) -> any StorageBackend {
    kind == "lmdb" ? LMDBBackend(path: path) : SQLiteBackend(path: path)
  }

  package static func before(_ backend: any StorageBackend) -> Store.Configuration {
    Store.Configuration(backend: backend, models: [Before.Tenant.self, Before.Flat.self, Before.Relic.self])
  }

  package static func after(_ backend: any StorageBackend) -> Store.Configuration {
    var configuration = Store.Configuration(
      backend: backend, models: [After.Tenant.self, After.Flat.self, After.Relic.self, After.Note.self])
    configuration.schemaVersion = 1
    configuration.migration = { migration, _ in
      try migration.enumerateObjects(ofType: "Tenant") { old, new in
        try new?.set("name", to: .string("\(old["first"]) \(old["last"])"))
      }
      try migration.renameProperty(onType: "Tenant", from: "marks", to: "grades")
      try migration.deleteData(forType: "Relic")
    }
    configuration.migrations = [
      NamedMigration("note it") { try $0.create("Note", ["text": .string("migrated")]) }
    ]
    return configuration
  }

  package static func fill(_ configuration: Store.Configuration) throws {
    let store = try Store(configuration, isolation: nil)
    try store.write {
      var friend: Before.Tenant?
      for id in 1...tenantCount {
        let tenant = Before.Tenant(id: id, first: "F\(id)", last: "L\(id)", age: "\(id)")
        tenant.friend = friend
        tenant.marks = LiveList((0..<id).map { $0 * id })
        tenant.home = Before.Flat(street: "S\(id)")
        try store.add(tenant)
        friend = tenant
      }
      try store.add(Before.Relic(name: "old"))
      try store.add(Before.Flat(street: "nobody's"))
    }
  }

  /// Everything that a store of either version holds, as text; the version is the schema's.
  package static func contents(_ backend: any StorageBackend) throws -> (version: UInt64, text: String) {
    let old: Store
    do {
      old = try Store(before(backend), isolation: nil)
    } catch {
      guard error.code == .newerSchema else { throw error }
      return migratedContents(try Store(after(backend), isolation: nil))
    }
    let tenants = old.objects(Before.Tenant.self).map { tenant in
      "\(tenant.id) \(tenant.first) \(tenant.last) \(tenant.age) \(tenant.friend?.id ?? 0) \(tenant.marks.toArray()) \(tenant.home?.street ?? "-")"
    }
    let flats = old.objects(Before.Flat.self).map(\.street)
    return (old.schemaVersion, "\(tenants) \(flats) \(old.objects(Before.Relic.self).map(\.name))")
  }

  private static func migratedContents(_ store: Store) -> (version: UInt64, text: String) {
    let tenants = store.objects(After.Tenant.self).map { tenant in
      "\(tenant.id) \(tenant.name) \(tenant.age) \(tenant.friend?.id ?? 0) \(tenant.grades.toArray()) \(tenant.gradeCount) \(tenant.home?.street ?? "-")"
    }
    let found = store.objects(After.Tenant.self).where { $0.name == "F3 L3" }.map(\.id)
    let flats = store.objects(After.Flat.self).map(\.street)
    let rest = [store.objects(After.Relic.self).map(\.name), store.objects(After.Note.self).map(\.text)]
    return (store.schemaVersion, "\(tenants) \(found) \(flats) \(rest) \(store.completedMigrations.map(\.name))")
  }
}
