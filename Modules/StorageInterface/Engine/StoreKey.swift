/// What a store's file is encrypted with. `StorageEncryption` has `EncryptionKey`; this is what an engine needs of a key.
public protocol StoreKey: Sendable {
  /// The cipher for a file. `salt`: sixteen random bytes that are in the file and in no other, so that two files of one key have nothing
  /// in common. Asked once for each opening; may take as long as making a key of a passphrase does.
  func cipher(salt: [UInt8]) throws(StorageError) -> any PageCipher
}

/// Encrypts the pages of one file, and finds those that were not written with its key. From any thread at any time.
public protocol PageCipher: Sendable {
  /// Bytes by which an encrypted page is longer, the same for all: nonce and tag.
  var overhead: Int { get }
  /// Four bytes that follow from the key and tell nothing of it: another key gives others, but for one in 2^32.
  var check: [UInt8] { get }

  /// Writes a page to `sealed`, which is `overhead` bytes longer than `plain`; no nonce comes twice. `context` says what the page is
  /// and where it belongs, and has to be the same for `open`.
  func seal(_ plain: UnsafeRawBufferPointer, _ context: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawBufferPointer) -> Bool

  /// The other way round. False, and nothing of use in `plain`, where a bit of the page or of its context is another one.
  func open(_ sealed: UnsafeRawBufferPointer, _ context: UnsafeRawBufferPointer, to plain: UnsafeMutableRawBufferPointer) -> Bool
}
