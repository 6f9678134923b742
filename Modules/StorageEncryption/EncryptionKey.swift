#if Encryption
import Crypto
import CryptoExtras
import Foundation
import StorageInterface

/// A key that a store's file is encrypted with: 64 bytes, or what is made of a passphrase.
///
/// ```swift
/// import StorageEncryption
/// import StorageSQLite
/// let key = EncryptionKey.generate()                  // once; keep `key.bytes` in the keychain
/// let store = try Store(.sqlite(url, key: key, models: Person.self))
/// ```
///
/// Whoever loses the key has lost the data. Docs/Security.md says what is encrypted and what that protects from. From any thread.
public struct EncryptionKey: StoreKey, Sendable {
  /// How many bytes a key has.
  public static let byteCount = 64

  private enum Source: Sendable {
    case bytes(SymmetricKey)
    case passphrase(String, Cost)
  }

  /// How much it costs to try a passphrase, by scrypt.
  public struct Cost: Hashable, Sendable {
    /// The logarithm of scrypt's N: each step doubles time and memory. From 14 to 20.
    public var logarithm: Int
    /// 128 MiB and some tenths of a second.
    public static let usual = Cost(logarithm: 17)

    /// A cost of its parts; what is out of bounds is moved into them.
    public init(logarithm: Int) { self.logarithm = min(max(logarithm, 14), 20) }
  }

  private let source: Source

  /// A key of 64 random bytes, as a Realm file has one. `.wrongKey` for any other number of bytes.
  public init(_ bytes: some Sequence<UInt8>) throws(StorageError) {
    let bytes = Array(bytes)
    guard bytes.count == EncryptionKey.byteCount else {
      throw StorageError(
        .wrongKey, .engine, "A key has \(EncryptionKey.byteCount) bytes, and this one \(bytes.count).",
        remedy: "Make one with 'EncryptionKey.generate()', or use 'EncryptionKey(passphrase:)'.")
    }
    source = .bytes(SymmetricKey(data: bytes))
  }

  /// The key that follows from a passphrase and a file: each opening costs what `cost` says, which has to be the same each time.
  /// `.wrongKey` for an empty one. The same characters typed on another system are the same passphrase.
  public init(passphrase: String, cost: Cost = .usual) throws(StorageError) {
    let normal = passphrase.precomposedStringWithCompatibilityMapping
    guard !normal.isEmpty else {
      throw StorageError(.wrongKey, .engine, "The passphrase is empty.", remedy: "Give one that nobody guesses.")
    }
    source = .passphrase(normal, cost)
  }

  private init(_ key: SymmetricKey) { source = .bytes(key) }

  /// A new key, from the system's generator.
  public static func generate() -> EncryptionKey { EncryptionKey(SymmetricKey(size: SymmetricKeySize(bitCount: byteCount * 8))) }

  /// The 64 bytes, to be kept in a safe place; nil of a passphrase.
  public var bytes: [UInt8]? {
    if case .bytes(let key) = source { key.withUnsafeBytes { Array($0) } } else { nil }
  }

  /// As `StoreKey` says.
  public func cipher(salt: [UInt8]) throws(StorageError) -> any PageCipher {
    let secret: SymmetricKey
    switch source {
    case .bytes(let key): secret = key
    case .passphrase(let text, let cost):
      do {
        secret = try KDF.Scrypt.deriveKey(
          from: Array(text.utf8), salt: salt, outputByteCount: EncryptionKey.byteCount, rounds: 1 << cost.logarithm, blockSize: 8,
          parallelism: 1)
      } catch {
        throw StorageError(
          .unsupported, .engine, "No key can be made of the passphrase: \(error).", remedy: "Run where there is more memory.")
      }
    }
    return AESPageCipher(secret, salt)
  }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
  /// Without the key.
  public var description: String { "EncryptionKey" }
  /// Without the key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
