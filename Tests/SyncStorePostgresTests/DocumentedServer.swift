#if Sync
import SyncServer
import SyncStorePostgres

/// As the guide says it; compiled, and never called: there is no such database.
func documentedServer(access: any SyncAccess) async throws -> SyncHost {
  let stores = try await PostgresServerStore("postgresql://vivarium@db.example/vivarium", makesTables: true)
  let host = SyncHost(stores: stores, access: access)
  return host
}
#endif
