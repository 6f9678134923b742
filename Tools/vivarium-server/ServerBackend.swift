#if Sync
import SyncServer
import SyncStoreEmbedded
import SyncStorePostgres
import SyncTokens

/// What a server is run on: its stores, its users, and the key of its tokens.
struct ServerBackend {
  let stores: any SyncServerStore
  let directory: any UserDirectory
  let tokenKey: [UInt8]
  /// Makes a back-up of a name; nil where a database has its own ways.
  let backUp: (@Sendable (String) async throws(ServerStoreError) -> Void)?
  /// What is left to be done at the end.
  let finish: @Sendable () async throws -> Void

  /// What is in a folder or a database, which is made where it is missing.
  init(_ place: ServerPlace) async throws {
    switch place {
    case .folder(let folder):
      try await place.make()
      let embedded = try EmbeddedServerStore(folder: ServerPlace.stores(folder))
      (stores, directory) = (embedded, EmbeddedUserDirectory(path: ServerPlace.users(folder)))
      tokenKey = try TokenIssuer.key(ofFile: ServerPlace.tokenKey(folder))
      backUp = { name throws(ServerStoreError) in try await ServerPlace.backUp(folder, name, embedded) }
      finish = { try await embedded.flush() }
    case .database(let address):
      let database = try await PostgresServerStore(address, makesTables: true)
      let users = try await PostgresUserDirectory(address)
      (stores, directory) = (database, users)
      tokenKey = try await users.tokenKey(TokenIssuer.newKey())
      backUp = nil
      finish = {
        await database.close()
        await users.close()
      }
    }
  }
}
#endif
