import SyncModel
import SyncServer

/// The handler names known to a server. A new name begins at the head of the stores that exist then, and at the start of all later ones,
/// even if they were created while no process ran it.
///
/// The names are stored as handler cursors in an otherwise empty store.
struct EventRegistry: Sendable {
  static let path = HandlerNames.path

  let stores: any SyncServerStore
  /// How long one process may take to register a new name.
  let turnMilliseconds: Int64
  let clock: @Sendable () -> Int64

  /// Registers a handler, and sets its cursors if it is new. Returns false while another process does that.
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
      // From here on, a store without a cursor of the handler is a later one.
      let now = clock()
      _ = try await stores.claim(EventRegistry.path, handler: HandlerNames.known(name), fromStart: true, until: now, at: now)
    }
    try await stores.renew(EventRegistry.path, turn, until: clock(), at: clock())
    return true
  }

  private func isKnown(_ name: String) async throws(ServerStoreError) -> Bool {
    try await stores.handlers(EventRegistry.path)[HandlerNames.known(name)] != nil
  }
}
