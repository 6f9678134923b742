#if Sync
import ServerStoreForwarding
import SyncModel
import SyncProtocol
import SyncServer

/// Stores whose process dies at one point of a call for a handler of events.
protocol MortalHandling: EventStoresInFront {
  var fuse: Fuse { get }
}

/// Those of another process.
struct MortalEventStores: MortalHandling {
  let events: any EventStores
  let fuse: Fuse
}

extension MortalHandling {
  func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    fuse.reached("before-claim")
    let lease = try await events.claim(path, handler: handler, heldIn: history, fromStart: fromStart, until: end, at: time)
    // Whoever waits for another's lease asks again and again, and nothing has changed.
    if lease != nil { fuse.reached("after-claim") }
    return lease
  }

  func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    try await fuse.around("renew") { () throws(ServerStoreError) in try await events.renew(path, lease, until: end, at: time) }
  }

  func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    try await fuse.around("advance") { () throws(ServerStoreError) -> [Seq] in
      fuse.reachedSoon("in-advance")
      return try await events.advance(path, lease, to: cursor, writing: changesets, at: time)
    }
  }
}
#endif
