import SyncModel
import SyncServer

/// Which names of handlers a server knows: one that runs for the first time begins with what comes, in the stores that there are then, and
/// in all later ones at their beginning, also in those that were made while no process ran it.
///
/// It is kept as places of handlers in a store of its own, in which nothing is.
struct EventRegistry: Sendable {
  /// No user has it: see `UserRecord.isName`.
  // The text is a path, which StorePathTests says.
  static let path = StorePath("/__server/handlers").unsafelyUnwrapped

  let stores: any SyncServerStore
  let clock: @Sendable () -> Int64

  /// Says that a handler is there, and gives it its places where it is new. Returns false where another process is doing that.
  func register(_ name: String, _ pattern: PathPattern) async throws(ServerStoreError) -> Bool {
    do throws(ServerStoreError) { try await stores.makeStore(EventRegistry.path) } catch {
      guard error.code == .storeExists else { throw error }
    }
    let now = clock()
    guard let turn = try await stores.claim(EventRegistry.path, handler: name, fromStart: true, until: now + 60_000, at: now) else {
      return false
    }
    if try await !isReady(name) {
      for path in try await stores.stores() where pattern.matches(path) {
        _ = try await stores.claim(path, handler: name, fromStart: false, until: clock(), at: clock())
      }
      // From here on a store without a place is one that came later.
      _ = try await claimReady(name)
    }
    try await stores.renew(EventRegistry.path, turn, until: clock(), at: clock())
    return true
  }

  private func isReady(_ name: String) async throws(ServerStoreError) -> Bool {
    if try await claimReady(name)?.fence != 1 { return true }
    try await stores.removeHandler(EventRegistry.path, name + EventRegistry.ready)
    return false
  }

  private static let ready = ".ready"

  private func claimReady(_ name: String) async throws(ServerStoreError) -> HandlerLease? {
    let now = clock()
    return try await stores.claim(EventRegistry.path, handler: name + EventRegistry.ready, fromStart: true, until: now, at: now)
  }
}
