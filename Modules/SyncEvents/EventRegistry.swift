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
  /// For how long one process gives a new name its places.
  let turnMilliseconds: Int64
  let clock: @Sendable () -> Int64

  /// Says that a handler is there, and gives it its places where it is new. Returns false where another process is doing that.
  func register(_ name: String, _ pattern: PathPattern) async throws(ServerStoreError) -> Bool {
    do throws(ServerStoreError) { try await stores.makeStore(EventRegistry.path) } catch {
      guard error.code == .storeExists else { throw error }
    }
    if try await isKnown(name) { return true }
    let now = clock()
    let turn = try await stores.claim(EventRegistry.path, handler: name, fromStart: true, until: now + turnMilliseconds, at: now)
    guard let turn else { return false }
    if try await !isKnown(name) {
      for path in try await stores.stores() where pattern.matches(path) && path != EventRegistry.path {
        _ = try await stores.claim(path, handler: name, fromStart: false, until: clock(), at: clock())
      }
      // From here on a store without a place is one that came later.
      let now = clock()
      _ = try await stores.claim(EventRegistry.path, handler: name + EventRegistry.known, fromStart: true, until: now, at: now)
    }
    try await stores.renew(EventRegistry.path, turn, until: clock(), at: clock())
    return true
  }

  private func isKnown(_ name: String) async throws(ServerStoreError) -> Bool {
    try await stores.handlers(EventRegistry.path)[name + EventRegistry.known] != nil
  }

  /// No handler's name has a colon.
  private static let known = ":known"
}
