#if Sync
import Foundation
import JWTKit

/// What an access token says.
struct AccessClaims: JWTPayload {
  /// One name, or several.
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

  /// Who made it.
  var iss: String
  /// The user.
  var sub: String
  /// For whom it was made.
  var aud: Audience
  /// The end, in seconds since 1970.
  var exp: Double
  /// The beginning.
  var nbf: Double?
  /// Tells tokens apart that say the same.
  var jti: String?
  /// The log-in.
  var sid: String?
  /// Whether the user is an administrator.
  var adm: Bool?
  /// Rights by path, as letters of "rwm".
  var stores: [String: String]?

  /// Whom tokens for a server of Vivarium are made for.
  static let audience = "vivarium"

  /// What needs a clock or the users is looked at by the verifier.
  func verify(using algorithm: some JWTAlgorithm) async throws {}
}
#endif
