import SyncModel
import SyncServer

/// The handler names known to a server, and of which stores they are. A new name begins at the head of the stores that exist then, and at
/// the start of all later ones: a store that is made gets cursors of the handlers that it is for (`HandlerNames.handlers`), and keeps its
/// log for them, whether a process runs them or not.
///
/// Names and patterns are stored as handler cursors in an otherwise empty store.
struct EventRegistry: Sendable {
  static let path = HandlerNames.path

  let stores: any EventStores
  /// How long one process may take to register a new name.
  let turnMilliseconds: Int64
  let clock: @Sendable () -> Int64

  /// Registers a handler, and sets its cursors if it is new, or is for other stores than before. Returns false while another process does
  /// that.
  func register(_ name: String, _ pattern: PathPattern) async throws(ServerStoreError) -> Bool {
    do throws(ServerStoreError) { try await stores.makeHandlerNames() } catch {
      guard error.code == .storeExists else { throw error }
    }
    if isRegistered(name, pattern, in: try await cursors()) { return true }
    let now = clock()
    let turn = try await stores.claim(EventRegistry.path, handler: name, fromStart: true, until: now + turnMilliseconds, at: now)
    guard let turn else { return false }
    do throws(ServerStoreError) { try await complete(name, pattern) } catch {
      // The next attempt need not wait for the end of this one's turn.
      try? await stores.renew(EventRegistry.path, turn, until: clock(), at: clock())
      throw error
    }
    try await stores.renew(EventRegistry.path, turn, until: clock(), at: clock())
    return true
  }

  /// Whether nothing is left to do. The two cursors that a registration sets are there before its end: an attempt that failed after them
  /// has left the name of other stores, or later stores without the handler.
  private func isRegistered(_ name: String, _ pattern: PathPattern, in found: Set<String>) -> Bool {
    found.contains(HandlerNames.known(name)) && !found.contains(HandlerNames.unfinished(name))
      && HandlerNames.patterns(of: name, in: found) == [HandlerNames.pattern(pattern, of: name)]
  }

  /// Does what is left to do, in a turn. Where it fails it is begun again, from whatever was done.
  private func complete(_ name: String, _ pattern: PathPattern) async throws(ServerStoreError) {
    let found = try await cursors()
    try await set(HandlerNames.unfinished(name))
    var old: Set<StorePath> = []
    if !found.contains(HandlerNames.known(name)) {
      old = Set(try await paths(pattern))
      for path in old.sorted() { _ = try await stores.claim(path, handler: name, fromStart: false, until: clock(), at: clock()) }
    }
    // From here on, a store that is made gets a cursor of the handler.
    let wanted = HandlerNames.pattern(pattern, of: name)
    for cursor in [wanted, HandlerNames.known(name)] where !found.contains(cursor) { try await set(cursor) }
    for other in HandlerNames.patterns(of: name, in: found) where other != wanted {
      try await stores.removeHandler(EventRegistry.path, other)
    }
    // Those made in between, or by an earlier build, are later ones.
    for path in try await paths(pattern) where !old.contains(path) {
      if try await stores.handlers(path)[name] != nil { continue }
      _ = try await stores.claim(path, handler: name, fromStart: true, until: clock(), at: clock())
    }
    try await stores.removeHandler(EventRegistry.path, HandlerNames.unfinished(name))
  }

  /// Sets a cursor of the server.
  private func set(_ cursor: String) async throws(ServerStoreError) {
    let now = clock()
    _ = try await stores.claim(EventRegistry.path, handler: cursor, fromStart: true, until: now, at: now)
  }

  private func paths(_ pattern: PathPattern) async throws(ServerStoreError) -> [StorePath] {
    try await stores.stores().filter { pattern.matches($0) && $0 != EventRegistry.path }
  }

  private func cursors() async throws(ServerStoreError) -> Set<String> { Set(try await stores.handlers(EventRegistry.path).keys) }

  func isKnown(_ name: String) async throws(ServerStoreError) -> Bool { try await cursors().contains(HandlerNames.known(name)) }
}
