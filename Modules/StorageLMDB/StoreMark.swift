import ColumnStore
import StorageInterface

/// What an encrypted file says of its key: which cipher it is for, four bytes that follow from it, and the salt that it is made with.
/// Written under the key 00 02 with the first entries, and never changed. Twenty-four bytes, numbers little-endian.
struct StoreMark: Equatable, Sendable {
  static let key: [UInt8] = [0, 2]
  /// The only cipher so far: AES-256-GCM with keys by HKDF, as `StorageEncryption` has it.
  private static let cipher: UInt32 = 1
  private static let (checkCount, saltCount) = (4, 16)
  private static let size = 24

  private let check: [UInt8]
  private let salt: [UInt8]

  /// A mark for a new file, with a salt of its own, and the file's cipher.
  static func make(_ key: any StoreKey) throws(StorageError) -> (mark: StoreMark, cipher: EntryCipher) {
    let salt = (0..<saltCount).map { _ in UInt8.random(in: 0 ... .max) }
    let cipher = try key.cipher(salt: salt)
    return (StoreMark(check: cipher.check, salt: salt), EntryCipher(cipher))
  }

  private init(check: [UInt8], salt: [UInt8]) { (self.check, self.salt) = (check, salt) }

  /// The mark in a version of an encrypted file.
  static func find(in view: LMDBView) throws(StorageError) -> StoreMark {
    let bytes = try withKey { key throws(StorageError) in try view.value(for: key) }
    guard let bytes, bytes.count >= 4 else { throw view.damage("what it says of its key is missing") }
    guard UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == cipher else {
      throw StorageError(
        .unsupportedVersion, .engine, "'\(view.path)' is encrypted in a way that this build does not know.",
        remedy: "Open it with a newer build.")
    }
    guard bytes.count == size else { throw view.damage("what it says of its key is cut off") }
    let rest = Array(bytes[4...])
    return StoreMark(check: Array(rest[..<checkCount]), salt: Array(rest[checkCount...]))
  }

  /// The cipher of the file at a path. `.wrongKey` if it was made with another key.
  func cipher(_ key: any StoreKey, _ path: String) throws(StorageError) -> EntryCipher {
    let cipher = try key.cipher(salt: salt)
    guard cipher.check == check else {
      throw StorageError(
        .wrongKey, .engine, "'\(path)' is encrypted with another key.", remedy: "Give the key that it was made with.")
    }
    return EntryCipher(cipher)
  }

  var bytes: [UInt8] { withUnsafeBytes(of: StoreMark.cipher.littleEndian) { Array($0) } + check + salt }

  /// Calls `body` with the mark's key.
  static func withKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try key.withUnsafeBufferPointer { key throws(E) in try body(UnsafeRawBufferPointer(key)) }
  }
}

extension StorageError {
  static func missingKey(_ path: String) -> StorageError {
    StorageError(
      .missingKey, .engine, "'\(path)' is encrypted, and no key was given.", remedy: "Open it with the key that it was made with.")
  }

  static func notEncrypted(_ path: String) -> StorageError {
    StorageError(
      .notEncrypted, .engine, "'\(path)' is not encrypted, and a key was given.",
      remedy: "Open it without a key, or encrypt it with 'changeKey'.")
  }
}
