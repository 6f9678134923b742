#if Sync
import Foundation
import JWTKit

/// The public keys of an outside issuer, from the text of a JWKS (RFC 7517): each by its name, and for the algorithms that its kind allows.
///
/// A token's header names one key and one algorithm, and only that pair is tried. So no token decides what a key is used for: neither
/// another kind of signature, nor one of none, nor one that takes a public key for a secret.
struct OutsideKeys: Sendable {
  /// One key of a set, as it is written. What is not needed is not read, a private part neither.
  private struct Entry: Decodable {
    let kty: String
    let kid: String?
    let alg: String?
    let use: String?
    let crv: String?
    let n: String?
    let e: String?
    let x: String?
    let y: String?
  }

  /// An entry, or what cannot be one: a set may have keys that nobody here knows.
  private struct Item: Decodable {
    let entry: Entry?

    init(from decoder: any Decoder) throws { entry = try? Entry(from: decoder) }
  }

  private struct KeySet: Decodable { let keys: [Item] }

  private struct Name: Hashable {
    let key: String
    let algorithm: String
  }

  private let keys: [Name: JWTKeyCollection]
  /// The name of the only key, which a token need not give; nil for several.
  private let only: String?

  /// Reads the keys of a set. Keys of other kinds, for other algorithms or for encryption are left out, as the RFC wants.
  init(_ text: String, of issuer: String) async throws(IssuerError) {
    guard let set = try? JSONDecoder().decode(KeySet.self, from: Data(text.utf8)) else {
      throw IssuerError(.noKeySet, "The keys of the issuer '\(issuer)' are no set of keys.")
    }
    var keys: [Name: JWTKeyCollection] = [:]
    for entry in set.keys.compactMap(\.entry) where entry.use ?? "sig" == "sig" {
      for algorithm in OutsideKeys.algorithms(of: entry) {
        guard let kid = entry.kid, !kid.isEmpty else {
          throw IssuerError(.namelessKey, "A key of the issuer '\(issuer)' has no name.")
        }
        let name = Name(key: kid, algorithm: algorithm.rawValue)
        guard keys[name] == nil else { throw IssuerError(.sameName, "Two keys of the issuer '\(issuer)' are called '\(kid)'.") }
        do { keys[name] = try await JWTKeyCollection().add(jwk: OutsideKeys.key(entry, kid, algorithm)) } catch {
          throw IssuerError(.badKey, "The key '\(kid)' of the issuer '\(issuer)' cannot be used.")
        }
      }
    }
    guard !keys.isEmpty else { throw IssuerError(.noKey, "The issuer '\(issuer)' has no key that verifies signatures here.") }
    self.keys = keys
    let names = Set(keys.keys.map(\.key))
    only = names.count == 1 ? names.first : nil
  }

  /// The claims of a token that one of the keys has signed; nil for any other.
  func claims(of token: String, _ header: JWTHeader) async -> AccessClaims? {
    // A header that must be understood is not: there is none that this server knows.
    guard let kid = header.kid ?? only, let algorithm = header.alg, header.fields["crit"] == nil else { return nil }
    return try? await keys[Name(key: kid, algorithm: algorithm)]?.verify(token, as: AccessClaims.self)
  }

  /// What a key may be used for: what it says, or what its kind allows. None for a key that is of no use here.
  private static func algorithms(of entry: Entry) -> [JWK.Algorithm] {
    let all: [JWK.Algorithm] =
      switch (entry.kty, entry.crv ?? "") {
      case ("RSA", _): [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
      case ("EC", "P-256"): [.es256]
      case ("EC", "P-384"): [.es384]
      case ("EC", "P-521"): [.es512]
      case ("OKP", "Ed25519"): [.eddsa]
      default: []
      }
    return all.filter { $0.rawValue == entry.alg ?? $0.rawValue }
  }

  private static func key(_ entry: Entry, _ kid: String, _ algorithm: JWK.Algorithm) -> JWK {
    let name = JWKIdentifier(string: kid)
    switch entry.kty {
    case "RSA": return .rsa(algorithm, identifier: name, modulus: entry.n, exponent: entry.e)
    case "EC": return .ecdsa(algorithm, identifier: name, x: entry.x, y: entry.y, curve: entry.crv.flatMap { ECDSACurve(rawValue: $0) })
    // Without its number it is refused like one with a wrong number.
    default: return .octetKeyPair(algorithm, identifier: name, x: entry.x ?? "", y: nil, curve: .ed25519)
    }
  }
}
#endif
