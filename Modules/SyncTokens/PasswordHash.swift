#if Sync
import Crypto
import CryptoExtras
import Foundation

/// What a server keeps of a password: enough to know it again, and of no use to who reads it. By scrypt, whose parameters are kept with
/// each hash, so that they can be raised later.
///
/// ```swift
/// let kept = try PasswordHash.make(of: password)
/// if PasswordHash.matches(password, kept) { … }
/// ```
///
/// **Cost.** By purpose: some 32 MiB and a noticeable part of a second. Not for a thread that others wait for.
public enum PasswordHash {
  /// How much a hash costs.
  public struct Cost: Hashable, Sendable {
    /// The logarithm of scrypt's N: each step doubles time and memory.
    public var logarithm: Int
    /// The usual.
    public static let usual = Cost(logarithm: 15)

    /// A cost of its parts: 10 to 20.
    public init(logarithm: Int) { self.logarithm = min(max(logarithm, 10), 20) }
  }

  private static let blockSize = 8

  /// `scrypt$15$8$1$SALT$KEY`, salt and key in base 64.
  public static func make(of password: String, cost: Cost = .usual) throws -> String {
    let salt = Secret.bytes(16)
    let key = try derive(password, salt, cost.logarithm)
    return "scrypt$\(cost.logarithm)$\(blockSize)$1$\(Data(salt).base64EncodedString())$\(Data(key).base64EncodedString())"
  }

  /// Whether a password is the one that a hash was made of. False also for what is no hash.
  public static func matches(_ password: String, _ kept: String) -> Bool {
    let parts = kept.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0] == "scrypt", let logarithm = Int(parts[1]), (10...20).contains(logarithm),
      parts[2] == "\(blockSize)", parts[3] == "1", let salt = Data(base64Encoded: String(parts[4])),
      let key = Data(base64Encoded: String(parts[5])), let own = try? derive(password, Array(salt), logarithm)
    else { return false }
    return Secret.isSame(own, Array(key))
  }

  private static func derive(_ password: String, _ salt: [UInt8], _ logarithm: Int) throws -> [UInt8] {
    // The same characters typed on another system may be other bytes.
    let normal = Array(password.precomposedStringWithCompatibilityMapping.utf8)
    let key = try KDF.Scrypt.deriveKey(
      from: normal, salt: salt, outputByteCount: 32, rounds: 1 << logarithm, blockSize: blockSize, parallelism: 1)
    return key.withUnsafeBytes { Array($0) }
  }
}

/// Bytes that nobody guesses, and how they are kept and compared.
public enum Secret {
  static func bytes(_ count: Int) -> [UInt8] {
    // The system's generator, as a key is made of it too.
    SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
  }

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// What is kept of a token that was drawn: it has enough bits to need no salt.
  public static func hash(_ token: String) -> String { text(SHA256.hash(data: Array(token.utf8))) }

  /// Takes as long whatever differs.
  static func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
#endif
