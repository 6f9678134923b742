import SyncProtocol

/// Lets everybody in as the user that the token names, with all rights: for tests, demonstrations and an app's own server
/// within its process. Never for a server that others can reach.
public struct OpenAccess: SyncAccess {
  /// Access without a check.
  public init() {}

  public func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    guard StorePath.isPart(token) else { throw SyncRefusal(.tokenInvalid, "It is no user's name.") }
    return SyncIdentity(user: token)
  }

  public func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant { .all }
}
