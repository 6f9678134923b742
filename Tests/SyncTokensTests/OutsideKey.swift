#if Sync
import Crypto
import CryptoExtras
import Foundation

/// A key of an issuer that is not the server, of one of the kinds that issuers have.
struct OutsideKey {
  /// The kinds, by what a token's header calls them.
  enum Kind: String, CaseIterable, Sendable {
    case ed25519 = "EdDSA"
    case p256 = "ES256"
    case p384 = "ES384"
    case rsa = "RS256"
    case pss = "PS256"
  }

  private enum Pair {
    case ed25519(Curve25519.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey, _RSA.Signing.Padding)
  }

  /// To make one takes a while.
  private static let rsa = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  private let pair: Pair
  let kind: Kind
  /// The key's `kid`.
  let name: String

  init(_ kind: Kind = .ed25519, name: String = "one") throws {
    (self.kind, self.name) = (kind, name)
    pair =
      switch kind {
      case .ed25519: .ed25519(Curve25519.Signing.PrivateKey())
      case .p256: .p256(P256.Signing.PrivateKey())
      case .p384: .p384(P384.Signing.PrivateKey())
      case .rsa: .rsa(try OutsideKey.rsa.get(), .insecurePKCS1v1_5)
      case .pss: .rsa(try OutsideKey.rsa.get(), .PSS)
      }
  }

  // MARK: the public part

  /// A set of this key alone.
  var keySet: String { get throws { OutsideKey.set([try entry()]) } }

  static func set(_ entries: [String]) -> String { "{\"keys\":[\(entries.joined(separator: ","))]}" }

  /// The key in a set, with some members otherwise; nil leaves one out.
  func entry(_ changes: [String: String?] = [:]) throws -> String {
    var members: [String: String] = ["kid": name, "alg": kind.rawValue, "use": "sig"]
    func add(curve: String, _ point: Data) {
      let half = point.count / 2
      members.merge(["kty": "EC", "crv": curve, "x": urlSafe(point.prefix(half)), "y": urlSafe(point.suffix(half))]) { $1 }
    }
    switch pair {
    case .ed25519(let key): members.merge(["kty": "OKP", "crv": "Ed25519", "x": urlSafe(key.publicKey.rawRepresentation)]) { $1 }
    case .p256(let key): add(curve: "P-256", key.publicKey.rawRepresentation)
    case .p384(let key): add(curve: "P-384", key.publicKey.rawRepresentation)
    case .rsa(let key, _):
      let numbers = try key.publicKey.getKeyPrimitives()
      members.merge(["kty": "RSA", "n": urlSafe(numbers.modulus), "e": urlSafe(numbers.publicExponent)]) { $1 }
    }
    for (name, value) in changes { members[name] = value }
    return String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
  }

  /// Everything that somebody who has the set may take for a secret.
  var knownToAll: [Data] {
    get throws {
      let forms: [Data] =
        switch pair {
        case .ed25519(let key): [key.publicKey.rawRepresentation]
        case .p256(let key): [key.publicKey.derRepresentation, Data(key.publicKey.pemRepresentation.utf8)]
        case .p384(let key): [key.publicKey.derRepresentation, Data(key.publicKey.pemRepresentation.utf8)]
        case .rsa(let key, _):
          [
            key.publicKey.derRepresentation, Data(key.publicKey.pemRepresentation.utf8),
            try key.publicKey.getKeyPrimitives().modulus,
          ]
        }
      let own = try [keySet, entry()]
      return forms + own.map { Data($0.utf8) }
    }
  }

  // MARK: tokens

  /// A token that the key has signed, with some members of its header otherwise; nil leaves one out.
  func token(_ claims: [String: Any], header changes: [String: Any?] = [:]) throws -> String {
    let text = try unsigned(claims, header: changes)
    return text + "." + urlSafe(try signature(of: Data(text.utf8)))
  }

  /// A token up to its signature.
  func unsigned(_ claims: [String: Any], header changes: [String: Any?] = [:]) throws -> String {
    var header: [String: Any] = ["alg": kind.rawValue, "typ": "JWT", "kid": name]
    for (name, value) in changes { header[name] = value }
    return urlSafe(try JSONSerialization.data(withJSONObject: header)) + "."
      + urlSafe(try JSONSerialization.data(withJSONObject: claims))
  }

  private func signature(of text: Data) throws -> Data {
    switch pair {
    case .ed25519(let key): try key.signature(for: text)
    case .p256(let key): try key.signature(for: text).rawRepresentation
    case .p384(let key): try key.signature(for: text).rawRepresentation
    case .rsa(let key, let padding): try key.signature(for: text, padding: padding).rawRepresentation
    }
  }
}

func encoded(_ text: String) -> String { urlSafe(Data(text.utf8)) }

func urlSafe(_ data: Data) -> String {
  data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

/// Base 64 that is safe in addresses, as other base 64.
func padded(_ text: String) -> String {
  let plain = text.replacing("-", with: "+").replacing("_", with: "/")
  return plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)
}
#endif
