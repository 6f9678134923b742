#if Sync
/// Why an outside issuer cannot be trusted: what is wrong with its name or its keys.
public struct IssuerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, as a code.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The name is the server's own, or is empty.
    case badName
    /// The text is no JSON object with a list of keys.
    case noKeySet
    /// A key has no name (`kid`), so no token can say that it is signed with it.
    case namelessKey
    /// Two keys have the same name and kind.
    case sameName
    /// A key has numbers that cannot be, or is too short.
    case badKey
    /// None of the keys can verify a signature here.
    case noKey
  }

  /// What is wrong, as a code.
  public let code: Code
  /// One sentence: what was found, with the names of issuer and key.
  public let message: String

  init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  /// What helps.
  public var remedy: String {
    switch code {
    case .badName: "Give each issuer the name that its tokens have as 'iss'."
    case .noKeySet: "Take the JWKS that the issuer publishes, whole: {\"keys\": [ … ]}."
    case .namelessKey, .sameName: "Give each key a 'kid' of its own, in the file and in the tokens' headers."
    case .badKey: "Copy the key again, whole; an RSA key needs 2048 bits or more."
    case .noKey: "The issuer has to sign with Ed25519 (EdDSA), P-256, P-384 or P-521 (ES256, ES384, ES512), or RSA (RS… or PS…)."
    }
  }
  public var description: String { "\(message) \(remedy)" }
}
#endif
