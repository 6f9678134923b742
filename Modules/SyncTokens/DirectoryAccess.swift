#if Sync
import SyncProtocol
import SyncServer

/// Access by a user directory: accepts access tokens of the server's own log-ins and of trusted outside issuers, and tokens that do not
/// expire; the rights are the directory's grants.
public struct DirectoryAccess: SyncAccess {
  private let directory: any UserDirectory
  private let verifier: TokenVerifier
  /// Before the hash of a token that does not expire, in place of the id of a log-in.
  private static let standing = "token "

  /// Creates access by a directory.
  public init(_ directory: any UserDirectory, _ verifier: TokenVerifier) { (self.directory, self.verifier) = (directory, verifier) }

  public func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    if !token.utf8.contains(UInt8(ascii: ".")) { return try await holder(ofStandingToken: token) }
    let verified = try await verifier.verify(token, at: time)
    let claims = verified.claims
    let known = try await asked { () throws(ServerStoreError) in try await directory.user(claims.sub) }
    if known?.isSuspended == true { throw SyncRefusal(.userSuspended) }
    var rights: [String: Bound.Rights] = [:]
    for (path, text) in claims.stores ?? [:] where GrantRecord.isPattern(path) { rights[path] = Bound.Rights(short: text) }
    guard verified.isOwn else {
      // Another issuer does not decide who is an administrator here.
      var outside = SyncIdentity(user: claims.sub, expires: verified.expires, claims: rights)
      outside.isOutside = true
      return outside
    }
    guard let known else { throw SyncRefusal(.tokenInvalid, "The user is not there any more.") }
    if let id = claims.sid {
      let login = try await asked { () throws(ServerStoreError) in try await directory.login(id) }
      guard login?.user == claims.sub else { throw SyncRefusal(.tokenInvalid, "The log-in has ended.") }
    }
    return SyncIdentity(
      user: known.name, expires: verified.expires, isAdministrator: known.isAdministrator, login: claims.sid, claims: rights)
  }

  private func holder(ofStandingToken token: String) async throws(SyncRefusal) -> SyncIdentity {
    guard (32...256).contains(token.utf8.count) else { throw SyncRefusal(.tokenInvalid) }
    let hash = Secret.hash(token)
    let user = try await asked { () throws(ServerStoreError) in try await directory.user(withTokenHash: hash) }
    guard let user else { throw SyncRefusal(.tokenInvalid) }
    if user.isSuspended { throw SyncRefusal(.userSuspended) }
    return SyncIdentity(user: user.name, isAdministrator: user.isAdministrator, login: DirectoryAccess.standing + hash)
  }

  public func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    try await asked { () throws(ServerStoreError) in try await directory.grant(to: identity, on: path) }
  }

  public func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal? {
    let user = try await asked { () throws(ServerStoreError) in try await directory.user(identity.user) }
    if user?.isSuspended == true { return SyncRefusal(.userSuspended) }
    if identity.isAdministrator, user?.isAdministrator == false { return SyncRefusal(.tokenExpired, "The user's rights have changed.") }
    guard let id = identity.login else { return nil }
    guard let user else { return SyncRefusal(.tokenInvalid, "The user is not there any more.") }
    if id.hasPrefix(DirectoryAccess.standing) {
      let isKnown = user.tokenHashes.contains(String(id.dropFirst(DirectoryAccess.standing.count)))
      return isKnown ? nil : SyncRefusal(.tokenInvalid, "There is another token in its place.")
    }
    let login = try await asked { () throws(ServerStoreError) in try await directory.login(id) }
    return login == nil ? SyncRefusal(.tokenInvalid, "The log-in has ended.") : nil
  }

  private func asked<R: Sendable>(_ body: () async throws(ServerStoreError) -> R) async throws(SyncRefusal) -> R {
    do throws(ServerStoreError) { return try await body() } catch { throw SyncRefusal(error) }
  }
}
#endif
