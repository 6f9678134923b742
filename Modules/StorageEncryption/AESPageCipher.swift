#if Encryption
import Crypto
import Foundation
import StorageInterface

/// AES-256-GCM with a random nonce of 96 bits for each writing of a page or entry: nonce, what is encrypted, tag. Keys and check are of the
/// secret and the file's salt by HKDF with SHA-256, and masks by HMAC with SHA-256.
///
/// Random nonces are good for 2^32 writings of one file, 16 TiB in pages of 4 KiB: then two are the same with a chance of one in 2^32.
/// Copies that have the file's salt count with it.
struct AESPageCipher: PageCipher {
  private static let nonceCount = 12
  private static let tagCount = 16
  private static let purpose = Data("vivarium pages 1".utf8)

  let overhead = AESPageCipher.nonceCount + AESPageCipher.tagCount
  let check: [UInt8]
  private let key: SymmetricKey
  private let maskKey: SymmetricKey

  init(_ secret: SymmetricKey, _ salt: [UInt8]) {
    func derived(_ name: String, _ count: Int) -> SymmetricKey {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: secret, salt: salt, info: AESPageCipher.purpose + Data(name.utf8), outputByteCount: count)
    }
    key = derived(" key", 32)
    check = derived(" check", 4).withUnsafeBytes { Array($0) }
    maskKey = derived(" mask", 32)
  }

  func seal(
    _ plain: UnsafeRawBufferPointer, _ context: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard sealed.count == plain.count + overhead,
      let box = try? AES.GCM.seal(plain, using: key, authenticating: context), let combined = box.combined
    else { return false }
    sealed.copyBytes(from: combined)
    return true
  }

  func open(
    _ sealed: UnsafeRawBufferPointer, _ context: UnsafeRawBufferPointer, to plain: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard sealed.count == plain.count + overhead, let box = try? AES.GCM.SealedBox(combined: sealed),
      let opened = try? AES.GCM.open(box, using: key, authenticating: context)
    else { return false }
    plain.copyBytes(from: opened)
    return true
  }

  func mask(_ bytes: UnsafeMutableRawBufferPointer, _ context: UnsafeRawBufferPointer) {
    let code = HMAC<SHA256>.authenticationCode(for: context, using: maskKey)
    for (i, byte) in zip(bytes.indices, code) { bytes[i] ^= byte }
  }
}
#endif
