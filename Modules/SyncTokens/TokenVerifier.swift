#if Sync
import Foundation
import JWTKit
import SyncProtocol
import SyncServer

/// Verifies access tokens: by the signature of the server's own issuer, or of an outside issuer that the server was told to trust.
public actor TokenVerifier {
  /// An outside issuer: its name in its tokens, and its keys as the text of a JWKS.
  public struct Outside: Hashable, Sendable {
    /// The claim `iss` of its tokens.
    public var name: String
    /// A set of keys (RFC 7517), each with a `kid`.
    public var keys: String

    /// Creates an issuer.
    public init(name: String, keys: String) { (self.name, self.keys) = (name, keys) }
  }

  /// A valid token.
  struct Verified: Sendable {
    let claims: AccessClaims
    /// Whether this server made it.
    let isOwn: Bool
    /// The expiry in milliseconds since 1970.
    let expires: Int64
  }

  private let own: String
  private let ownKeys: JWTKeyCollection
  private var outside: [String: JWTKeyCollection] = [:]

  /// Trusts the own issuer, and outside ones by their keys. Throws if keys are invalid.
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

  /// Seconds by which an outside issuer's clock may be wrong.
  private static let leeway = 60.0

  func verify(_ token: String, at time: Int64) async throws(SyncRefusal) -> Verified {
    // Checked before anything is decoded.
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
      // On either side, a clock that is years off looks like this.
      let hint = seconds > 86_400 ? " If somebody has logged in just now, one of the servers' clocks is wrong." : ""
      throw SyncRefusal(.tokenExpired, "It ended \(seconds) s ago, by this server's clock.\(hint)")
    }
    return Verified(claims: claims, isOwn: isOwn, expires: Int64((claims.exp + leeway) * 1000))
  }
}
#endif
