/// The key of an encrypted store. `StorageEncryption` has `EncryptionKey`; this is an engine's interface to it.
public protocol StoreKey: Sendable {
  /// The cipher for a file. `salt`: sixteen random bytes unique to the file, so that two files with one key have nothing in
  /// common. Called once per opening; may take as long as deriving a key from a passphrase.
  func cipher(salt: [UInt8]) throws(StorageError) -> any PageCipher
}

/// Encrypts the pages or entries of one file, and detects those that were not written with its key. From any thread at any time.
public protocol PageCipher: Sendable {
  /// How many bytes longer an encrypted page is, the same for all: nonce and tag.
  var overhead: Int { get }
  /// Four bytes derived from the key that reveal nothing about it: another key gives others, except for one in 2^32.
  var check: [UInt8] { get }

  /// Encrypts a page to `sealed`, which is `overhead` bytes longer than `plain`; no nonce is used twice. `context` identifies
  /// the page and its place, and must be the same for `open`.
  func seal(_ plain: UnsafeRawBufferPointer, _ context: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawBufferPointer) -> Bool

  /// Decrypts a page. False, with unspecified contents in `plain`, if any bit of the page or of its context differs.
  func open(_ sealed: UnsafeRawBufferPointer, _ context: UnsafeRawBufferPointer, to plain: UnsafeMutableRawBufferPointer) -> Bool

  /// Hides up to 32 bytes, or shows them again: replaces each by its XOR with a byte that follows from the key and from `context`,
  /// and that without the key nobody can tell from a random one. Nothing is authenticated, and what is hidden twice with one
  /// context tells how both differ.
  func mask(_ bytes: UnsafeMutableRawBufferPointer, _ context: UnsafeRawBufferPointer)
}
