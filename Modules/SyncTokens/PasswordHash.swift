#if Sync
import Crypto
import CryptoExtras
import Foundation

/// A password hash as a server stores it: enough to verify the password, and useless to a thief. By scrypt; each hash includes its
/// parameters, so that they can be raised later.
///
/// ```swift
/// let kept = try PasswordHash.make(of: password)
/// if PasswordHash.matches(password, kept) { … }
/// ```
///
/// **Cost.** Deliberately high: some 32 MiB and a noticeable part of a second. Not for a thread that others wait for.
public enum PasswordHash {
  /// The cost of a hash.
  public struct Cost: Hashable, Sendable {
    /// The logarithm of scrypt's N: each step doubles time and memory.
    public var logarithm: Int
    /// The default cost.
    public static let usual = Cost(logarithm: 15)

    /// Creates a cost; the logarithm is clamped to 10 to 20.
    public init(logarithm: Int) { self.logarithm = min(max(logarithm, 10), 20) }
  }

  private static let blockSize = 8

  /// `scrypt$15$8$1$SALT$KEY`, salt and key in base 64.
  public static func make(of password: String, cost: Cost = .usual) throws -> String {
    let salt = Secret.bytes(16)
    let key = try derive(password, salt, cost.logarithm)
    return "scrypt$\(cost.logarithm)$\(blockSize)$1$\(Data(salt).base64EncodedString())$\(Data(key).base64EncodedString())"
  }

  /// Whether a password matches a hash. False also for a text that is not a hash.
  public static func matches(_ password: String, _ kept: String) -> Bool {
    let parts = kept.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0] == "scrypt", let logarithm = Int(parts[1]), (10...20).contains(logarithm),
      parts[2] == "\(blockSize)", parts[3] == "1", let salt = Data(base64Encoded: String(parts[4])),
      let key = Data(base64Encoded: String(parts[5])), let own = try? derive(password, Array(salt), logarithm)
    else { return false }
    return Secret.isSame(own, Array(key))
  }

  private static func derive(_ password: String, _ salt: [UInt8], _ logarithm: Int) throws -> [UInt8] {
    // Normalized, because the same characters typed on another system may have other bytes.
    let normal = Array(password.precomposedStringWithCompatibilityMapping.utf8)
    let key = try KDF.Scrypt.deriveKey(
      from: normal, salt: salt, outputByteCount: 32, rounds: 1 << logarithm, blockSize: blockSize, parallelism: 1)
    return key.withUnsafeBytes { Array($0) }
  }
}

/// Random secrets, and how they are stored and compared.
public enum Secret {
  static func bytes(_ count: Int) -> [UInt8] {
    // Uses the system's generator, which also makes keys.
    SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
  }

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The hash to store for a random token: it has enough bits to need no salt.
  public static func hash(_ token: String) -> String { text(SHA256.hash(data: Array(token.utf8))) }

  /// Compares in constant time.
  static func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
#endif
