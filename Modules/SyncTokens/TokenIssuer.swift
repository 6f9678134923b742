#if Sync
import Crypto
import Foundation
import JWTKit
import SyncServer

/// Makes access tokens: JSON web tokens, signed with Ed25519, by default valid for a quarter of an hour.
public struct TokenIssuer: Sendable {
  /// The issuer's name in its tokens; servers with the same users share one name and one key.
  public let name: String
  /// Seconds for which a token is valid.
  public let lifetime: Int64
  private let key: EdDSA.PrivateKey
  private let keyName: String

  /// Creates an issuer from its key.
  ///
  /// - Parameter key: 32 secret bytes (`newKey`). Throws if they are not a key.
  public init(key: [UInt8], name: String = "vivarium", lifetime: Int64 = 900) throws {
    let secret = try Curve25519.Signing.PrivateKey(rawRepresentation: key)
    self.key = EdDSA.PrivateKey(backing: secret)
    keyName = Secret.text(SHA256.hash(data: secret.publicKey.rawRepresentation).prefix(8))
    (self.name, self.lifetime) = (name, lifetime)
  }

  /// Makes a new key.
  public static func newKey() -> [UInt8] { Array(Curve25519.Signing.PrivateKey().rawRepresentation) }

  /// Reads the key from a file, which is created if it is missing, readable by nobody else.
  public static func key(ofFile path: String) throws(ServerStoreError) -> [UInt8] {
    let refused = ServerStoreError(
      .unavailable, "'\(path)' is no key of 64 hexadecimal digits: restore it, or remove it, which ends all log-ins' access tokens.")
    guard FileManager.default.fileExists(atPath: path) else {
      let key = newKey()
      try PrivateFile.write(Data((Secret.text(key) + "\n").utf8), to: path)
      return key
    }
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { throw refused }
    let digits = Array(text.trimmingCharacters(in: .whitespacesAndNewlines))
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    guard digits.count == 64, bytes.count == 32 else { throw refused }
    return bytes
  }

  /// Makes a token for a user, in one of his log-ins.
  ///
  /// - Parameter time: milliseconds since 1970.
  public func token(user: String, login: String?, isAdministrator: Bool, at time: Int64) async throws -> String {
    let claims = AccessClaims(
      iss: name, sub: user, aud: AccessClaims.Audience(AccessClaims.audience), exp: Double(time / 1000 + lifetime), nbf: nil,
      jti: Secret.text(Secret.bytes(8)), sid: login, adm: isAdministrator ? true : nil, stores: nil)
    return try await signing().sign(claims, kid: JWKIdentifier(string: keyName))
  }

  /// The keys that verify the issuer's tokens.
  func keys() async -> JWTKeyCollection {
    await JWTKeyCollection().add(eddsa: key.publicKey, kid: JWKIdentifier(string: keyName))
  }

  private func signing() async -> JWTKeyCollection {
    await JWTKeyCollection().add(eddsa: key, kid: JWKIdentifier(string: keyName))
  }
}
#endif
