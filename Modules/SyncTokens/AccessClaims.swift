#if Sync
import Foundation
import JWTKit

/// The claims of an access token.
struct AccessClaims: JWTPayload {
  /// One audience, or several.
  struct Audience: Codable, Sendable {
    let names: [String]

    init(_ name: String) { names = [name] }

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      names = if let one = try? container.decode(String.self) { [one] } else { try container.decode([String].self) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      if names.count == 1 { try container.encode(names[0]) } else { try container.encode(names) }
    }
  }

  /// The issuer.
  var iss: String
  /// The user.
  var sub: String
  /// The audience.
  var aud: Audience
  /// The expiry, in seconds since 1970.
  var exp: Double
  /// The earliest time, in seconds since 1970.
  var nbf: Double?
  /// Distinguishes tokens with the same content.
  var jti: String?
  /// The log-in.
  var sid: String?
  /// Whether the user is an administrator.
  var adm: Bool?
  /// Rights by path, as letters of "rwm".
  var stores: [String: String]?

  /// The audience of tokens for a Vivarium server.
  static let audience = "vivarium"

  /// The verifier checks what needs a clock or the users.
  func verify(using algorithm: some JWTAlgorithm) async throws {}
}
#endif
