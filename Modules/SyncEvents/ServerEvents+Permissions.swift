import StoreMessages
import SyncManagement
import SyncServer
import Vivarium

extension ServerEvents {
  /// How requests for rights are processed.
  public struct PermissionOptions: Sendable {
    /// Whether rights may be granted to names that are not in the directory: users of other issuers.
    public var allowsUnknownUsers = false
    /// The hash of a token that the directory stores. It must be hard to invert.
    public var hash: @Sendable (String) -> String
    /// Called when rights have changed: `SyncHost.recheck`.
    public var changed: @Sendable () async -> Void = {}

    /// Creates options with a cryptographic hash for the tokens of offers.
    public init(hash: @escaping @Sendable (String) -> String) { self.hash = hash }
  }

  /// Processes the requests of users in their management stores: changes of rights (`SyncPermissionChange`), offers of rights, and
  /// responses to them.
  ///
  /// ```swift
  /// var options = ServerEvents.PermissionOptions(hash: Secret.hash)
  /// options.changed = { await host.recheck() }
  /// try events.handlePermissions(of: directory, options)
  /// ```
  public func handlePermissions(of directory: any UserDirectory, _ options: PermissionOptions) throws(ServerEventError) {
    let handler = PermissionHandler(directory: directory, options: options, clock: clock)
    let stores = "/*/__management"
    try on(store: stores, SyncPermissionChange.self, named: "__permissions", where: { $0.status == .notProcessed }) { change in
      guard change.isAsked, let wish = change.new else { return { _ in } }
      let outcome = try await handler.change(wish, of: change.user)
      return { store in if let wish = change.object(in: store) { outcome.settle(wish) } }
    }
    try on(store: stores, SyncPermissionOffer.self, named: "__offers", where: { $0.status == .notProcessed }) { change in
      guard change.isAsked, let wish = change.new else { return { _ in } }
      // Drawn again if the event is repeated: nobody has seen the first token.
      var random = SystemRandomNumberGenerator()
      let token = (0..<4).map { _ in String(random.next() as UInt64, radix: 36) }.joined()
      let outcome = try await handler.offer(wish, of: change.user, token: token)
      return { store in
        guard let wish = change.object(in: store) else { return }
        if outcome.code == nil { wish.token = token }
        outcome.settle(wish)
      }
    }
    try on(store: stores, SyncPermissionOfferResponse.self, named: "__responses", where: { $0.status == .notProcessed }) { change in
      guard change.isAsked, let wish = change.new else { return { _ in } }
      let (outcome, path) = try await handler.accept(wish.token, of: change.user)
      return { store in
        guard let wish = change.object(in: store) else { return }
        wish.storeURL = path
        outcome.settle(wish)
      }
    }
  }
}

extension ServerChange where T: Message {
  /// Whether it is a new request that waits for an answer.
  fileprivate var isAsked: Bool { kind == .insert && new?.status == .notProcessed }

  /// Who asks. A handler is no user, whatever its name, and has no rights to give.
  fileprivate var user: String { isOfHandler ? "" : author }
}
