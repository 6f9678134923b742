import SyncProtocol

/// How a client verifies a server with TLS.
public enum ServerTrust: Hashable, Sendable {
  /// By the roots that the system trusts, and the server's name.
  case system
  /// By the certificates of a PEM file in place of the system's roots, and the server's name: for a server with a certificate that its
  /// owner made himself.
  case roots(file: String)
  /// By the server's key or certificate only, whatever its name and whoever signed it: the SHA-256 of either (`init(pin:)`).
  case pin(sha256: [UInt8])

  /// Parses a pin: 64 hexadecimal digits, or "sha256/" and base 64, of the certificate (DER) or its public key (SPKI). nil for anything
  /// else.
  public init?(pin text: String) {
    let bytes: [UInt8]?
    if text.hasPrefix("sha256/") { bytes = ServerTrust.base64(text.dropFirst(7)) } else { bytes = ServerTrust.hexadecimal(text) }
    guard let bytes, bytes.count == 32 else { return nil }
    self = .pin(sha256: bytes)
  }

  /// With colons, as `openssl x509 -fingerprint` prints them, or without.
  private static func hexadecimal(_ text: String) -> [UInt8]? {
    let digits = text.filter { $0 != ":" }.compactMap(\.hexDigitValue)
    guard digits.count == 64, text.filter({ $0 != ":" }).count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }

  private static func base64(_ text: Substring) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var (bits, count, bytes): (UInt32, Int, [UInt8]) = (0, 0, [])
    for character in text where character != "=" {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      bits = (bits << 6 | UInt32(value)) & 0xFFF_FFFF
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return bytes
  }
}
