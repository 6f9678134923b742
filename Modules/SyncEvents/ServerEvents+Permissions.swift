import StoreMessages
import SyncManagement
import SyncServer
import Vivarium

extension ServerEvents {
  /// How wishes for rights are dealt with.
  public struct PermissionOptions: Sendable {
    /// Whether rights may be given to names that the directory does not have: users of other issuers.
    public var allowsUnknownUsers = false
    /// Of a token, what the directory keeps: one that finds a token by it has to try all.
    public var hash: @Sendable (String) -> String
    /// Called when rights have changed: `SyncHost.recheck`.
    public var changed: @Sendable () async -> Void = {}

    /// With a cryptographic hash for the tokens of offers.
    public init(hash: @escaping @Sendable (String) -> String) { self.hash = hash }
  }

  /// Deals with what users ask for in their management stores: who may do what (`SyncPermissionChange`), offers of rights and
  /// who accepts them.
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
      let outcome = try await handler.change(wish, of: change.author)
      return { store in if let wish = change.object(in: store) { outcome.settle(wish) } }
    }
    try on(store: stores, SyncPermissionOffer.self, named: "__offers", where: { $0.status == .notProcessed }) { change in
      guard change.isAsked, let wish = change.new else { return { _ in } }
      // Drawn anew where it comes again: nobody has seen the first one.
      var random = SystemRandomNumberGenerator()
      let token = (0..<4).map { _ in String(random.next() as UInt64, radix: 36) }.joined()
      let outcome = try await handler.offer(wish, of: change.author, token: token)
      return { store in
        guard let wish = change.object(in: store) else { return }
        if outcome.code == nil { wish.token = token }
        outcome.settle(wish)
      }
    }
    try on(store: stores, SyncPermissionOfferResponse.self, named: "__responses", where: { $0.status == .notProcessed }) { change in
      guard change.isAsked, let wish = change.new else { return { _ in } }
      let (outcome, path) = try await handler.accept(wish.token, of: change.author)
      return { store in
        guard let wish = change.object(in: store) else { return }
        wish.storeURL = path
        outcome.settle(wish)
      }
    }
  }
}

extension ServerChange where T: Message {
  /// Whether it is new, and waits for an answer.
  fileprivate var isAsked: Bool { kind == .insert && new?.status == .notProcessed }
}
