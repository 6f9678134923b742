#if Sync
import SyncServer
import SyncStoreEmbedded
import SyncTokens

/// What a server is run on: its stores, its users, and the key of its tokens.
struct ServerBackend {
  let stores: any SyncServerStore
  let directory: any UserDirectory
  let tokenKey: [UInt8]
  /// What is left to be written at the end.
  let flush: @Sendable () async throws -> Void

  /// Everything in one folder.
  init(_ place: ServerPlace) async throws {
    try place.make()
    let embedded = try EmbeddedServerStore(folder: place.stores)
    (stores, directory) = (embedded, try place.directory())
    tokenKey = try TokenIssuer.key(ofFile: place.tokenKey)
    flush = { try await embedded.flush() }
  }
}
#endif
