import ServerStoreForwarding
import SyncModel
import SyncProtocol
import SyncServer

/// A server's stores whose process dies before or after the transaction of what a handler has written.
struct MortalStores: ServerStoreInFront {
  let base: any SyncServerStore
  let fuse: Fuse

  func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    // A handler also says how far it is when it has nothing to write.
    if !changesets.isEmpty { fuse.reached(.beforeCommit) }
    let numbers = try await base.advance(path, lease, to: cursor, writing: changesets, at: time)
    if !changesets.isEmpty { fuse.reached(.afterCommit) }
    return numbers
  }
}
