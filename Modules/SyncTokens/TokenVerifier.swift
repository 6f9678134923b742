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
  private var outside: [String: OutsideKeys]

  /// Trusts the own issuer, and outside ones by their keys. Throws if a name or keys cannot be used.
  public init(_ issuer: TokenIssuer, outside: [Outside] = []) async throws(IssuerError) {
    self.outside = try await TokenVerifier.keys(of: outside, beside: issuer.name)
    own = issuer.name
    ownKeys = await issuer.keys()
  }

  /// Trusts these outside issuers by these keys from now on, and no others. Throws if a name or keys cannot be used; then nothing changes.
  ///
  /// Connections that there are go on until their tokens end.
  public func trust(_ outside: [Outside]) async throws(IssuerError) {
    self.outside = try await TokenVerifier.keys(of: outside, beside: own)
  }

  private static func keys(of issuers: [Outside], beside own: String) async throws(IssuerError) -> [String: OutsideKeys] {
    var all: [String: OutsideKeys] = [:]
    for issuer in issuers {
      guard issuer.name != own, !issuer.name.isEmpty else {
        throw IssuerError(.badName, "'\(issuer.name)' is the name of the server's own issuer, or none.")
      }
      guard all[issuer.name] == nil else { throw IssuerError(.badName, "There are two issuers '\(issuer.name)'.") }
      all[issuer.name] = try await OutsideKeys(issuer.keys, of: issuer.name)
    }
    return all
  }

  /// Seconds by which an outside issuer's clock may be wrong.
  private static let leeway = 60.0

  func verify(_ token: String, at time: Int64) async throws(SyncRefusal) -> Verified {
    // Checked before anything is decoded.
    guard token.utf8.count <= 8192, let said = try? DefaultJWTParser().parse(Array(token.utf8), as: AccessClaims.self) else {
      throw SyncRefusal(.tokenInvalid)
    }
    let issuer = said.payload.iss
    let isOwn = issuer == own
    let signed: AccessClaims? =
      if isOwn { try? await ownKeys.verify(token, as: AccessClaims.self) } else {
        await outside[issuer]?.claims(of: token, said.header)
      }
    guard let claims = signed else { throw SyncRefusal(.tokenInvalid, "Nobody whom this server trusts has made it.") }
    guard claims.aud.names.contains(AccessClaims.audience) else { throw SyncRefusal(.tokenInvalid, "It was made for another server.") }
    guard UserRecord.isName(claims.sub) else { throw SyncRefusal(.tokenInvalid, "Its user has no name that can be part of a path.") }
    let now = Double(time) / 1000
    let leeway = isOwn ? 0 : TokenVerifier.leeway
    // Farther off, the seconds in between would be no number.
    guard abs(claims.exp) < 1e11 else { throw SyncRefusal(.tokenInvalid) }
    guard (claims.nbf ?? 0) <= now + leeway else { throw SyncRefusal(.tokenInvalid, "It is not valid yet, by this server's clock.") }
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
