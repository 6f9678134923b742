import SyncProtocol

/// Accepts every token as the name of a user with all rights: for tests, demonstrations and a server inside an app's process. Never for a
/// server that others can reach.
public struct OpenAccess: SyncAccess {
  /// Creates access without a check.
  public init() {}

  public func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    guard StorePath.isPart(token) else { throw SyncRefusal(.tokenInvalid, "It is no user's name.") }
    return SyncIdentity(user: token)
  }

  public func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant { .all }
}
