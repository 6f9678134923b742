#if Sync
import Foundation
import JWTKit
import SyncProtocol
import SyncServer

/// Tells whose an access token is: by the signature of the server's own issuer, or of one outside that the server was told to trust.
public actor TokenVerifier {
  /// Another issuer: its name, as its tokens say it, and its keys as the text of a JWKS.
  public struct Outside: Hashable, Sendable {
    /// `iss` in its tokens.
    public var name: String
    /// A set of keys (RFC 7517), each with a `kid`.
    public var keys: String

    /// An issuer of its parts.
    public init(name: String, keys: String) { (self.name, self.keys) = (name, keys) }
  }

  /// A token that was found to be good.
  struct Verified: Sendable {
    let claims: AccessClaims
    /// Whether this server made it.
    let isOwn: Bool
    /// In milliseconds since 1970.
    let expires: Int64
  }

  private let own: String
  private let ownKeys: JWTKeyCollection
  private var outside: [String: JWTKeyCollection] = [:]

  /// Trusts an issuer, and others by their keys. Throws for keys that are none.
  public init(_ issuer: TokenIssuer, outside: [Outside] = []) async throws(ServerStoreError) {
    own = issuer.name
    ownKeys = await issuer.keys()
    for issuer in outside {
      guard issuer.name != own, !issuer.name.isEmpty else {
        throw ServerStoreError(.unavailable, "'\(issuer.name)' is the name of the server's own issuer: give the other one another.")
      }
      do { self.outside[issuer.name] = try await JWTKeyCollection().add(jwksJSON: issuer.keys) } catch {
        throw ServerStoreError(.unavailable, "The keys of the issuer '\(issuer.name)' are no JWKS with a 'kid' for each key.")
      }
    }
  }

  /// Seconds by which the clock of another issuer may be off.
  private static let leeway = 60.0

  func verify(_ token: String, at time: Int64) async throws(SyncRefusal) -> Verified {
    // Before anything is decoded of it.
    guard token.utf8.count <= 8192, let said = try? await ownKeys.unverified(token, as: AccessClaims.self) else {
      throw SyncRefusal(.tokenInvalid)
    }
    let isOwn = said.iss == own
    guard let keys = isOwn ? ownKeys : outside[said.iss], let claims = try? await keys.verify(token, as: AccessClaims.self) else {
      throw SyncRefusal(.tokenInvalid, "Nobody whom this server trusts has made it.")
    }
    guard claims.aud.names.contains(AccessClaims.audience) else { throw SyncRefusal(.tokenInvalid, "It was made for another server.") }
    guard UserRecord.isName(claims.sub) else { throw SyncRefusal(.tokenInvalid, "Its user has no name that can be part of a path.") }
    let now = Double(time) / 1000
    let leeway = isOwn ? 0 : TokenVerifier.leeway
    guard claims.exp.isFinite, claims.exp < 1e11, (claims.nbf ?? 0) <= now + leeway else { throw SyncRefusal(.tokenInvalid) }
    guard now < claims.exp + leeway else {
      let seconds = Int(now - claims.exp)
      // A clock that is years off looks like this, on the one side or the other.
      let hint = seconds > 86_400 ? " If somebody has logged in just now, one of the servers' clocks is wrong." : ""
      throw SyncRefusal(.tokenExpired, "It ended \(seconds) s ago, by this server's clock.\(hint)")
    }
    return Verified(claims: claims, isOwn: isOwn, expires: Int64((claims.exp + leeway) * 1000))
  }
}
#endif
