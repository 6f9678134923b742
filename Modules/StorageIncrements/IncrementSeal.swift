import CVivariumSystem
import StorageInterface

/// What makes one file's header and blocks recognisable: a checksum in a plain file, encryption in a sealed one. Both are over the
/// file's salt and a block's place too, so that no block can be in another place or another file.
struct IncrementSeal {
  /// Random, and of this file alone.
  let salt: [UInt8]
  /// nil: the file is plain.
  let cipher: (any PageCipher)?

  init(salt: [UInt8], cipher: (any PageCipher)?) { (self.salt, self.cipher) = (salt, cipher) }

  /// The seal of a new file.
  init(_ key: (any StoreKey)?) throws(StorageError) {
    salt = (0..<IncrementFormat.saltCount).map { _ in UInt8.random(in: .min ... .max) }
    cipher = try key?.cipher(salt: salt)
  }

  // MARK: Header

  var header: [UInt8] {
    var bytes = IncrementFormat.magic
    bytes.put32(IncrementFormat.format)
    bytes.put32(cipher == nil ? 0 : IncrementFormat.isSealed)
    bytes += salt
    bytes += cipher?.check ?? [0, 0, 0, 0]
    bytes += [UInt8](repeating: 0, count: IncrementFormat.headerCount - 4 - bytes.count)
    bytes.put32(IncrementSeal.checksum(IncrementFormat.magic, bytes))
    return bytes
  }

  /// The seal of a file with this header.
  ///
  /// - Parameters:
  ///   - key: nil: none was given.
  ///   - isPlainAllowed: whether a file that is not encrypted may be read although there is a key.
  init(
    header: [UInt8], key: (any StoreKey)?, isPlainAllowed: Bool, path: String
  ) throws(StorageError) {
    guard header.starts(with: IncrementFormat.magic) else { throw .notIncrement(path) }
    let body = header.count - 4
    guard header.count == IncrementFormat.headerCount,
      header.number32(at: body) == IncrementSeal.checksum(IncrementFormat.magic, Array(header[..<body]))
    else { throw .damagedIncrement(path, "its first bytes are not what was written") }
    guard header.number32(at: 8) == IncrementFormat.format else {
      throw StorageError(
        .unsupportedVersion, .statement, "The increment '\(path)' has format \(header.number32(at: 8)); "
          + "this build knows formats up to \(IncrementFormat.format).", remedy: "Use a newer build.")
    }
    salt = Array(header[16..<32])
    guard header.number32(at: 12) & IncrementFormat.isSealed != 0 else {
      cipher = nil
      if key == nil || isPlainAllowed { return }
      throw StorageError(
        .notEncrypted, .statement, "The increment '\(path)' is not encrypted, and the copy that it belongs to is.",
        remedy: "Use the increment that was written of the encrypted store.")
    }
    guard let key else {
      throw StorageError(.missingKey, .statement, "The increment '\(path)' is encrypted.", remedy: "Give the key it was written with.")
    }
    let cipher = try key.cipher(salt: salt)
    guard cipher.check == Array(header[32..<36]) else {
      throw StorageError(
        .wrongKey, .statement, "The increment '\(path)' is encrypted with another key.", remedy: "Give the key it was written with.")
    }
    self.cipher = cipher
  }

  // MARK: Blocks

  /// A block as it is in the file: length, flags, checksum, and the entries, plain or sealed.
  func close(_ entries: [UInt8], _ index: UInt64, flags: UInt32, path: String) throws(StorageError) -> [UInt8] {
    let context = context(index, flags)
    let count = entries.count + (cipher?.overhead ?? 0)
    guard count <= IncrementFormat.blockBytesMax else {
      throw .needsFullCopy("An object has more than an increment can hold.")
    }
    var block: [UInt8] = []
    block.reserveCapacity(IncrementFormat.blockHeadCount + count)
    block.put32(UInt32(count))
    block.put32(flags)
    block.put32(cipher == nil ? IncrementSeal.checksum(context, entries) : 0)
    guard let cipher else { return block + entries }
    var sealed = [UInt8](repeating: 0, count: count)
    let isSealed = sealed.withUnsafeMutableBytes { sealed in
      entries.withUnsafeBytes { entries in context.withUnsafeBytes { cipher.seal(entries, $0, to: sealed) } }
    }
    guard isSealed else { throw StorageError(.io, .statement, "A part of the increment '\(path)' could not be encrypted.") }
    return block + sealed
  }

  /// The entries of a block; nil if it is not what was written there.
  func open(_ body: UnsafeRawBufferPointer, _ index: UInt64, flags: UInt32, checksum: UInt32) -> IncrementBlock? {
    let context = context(index, flags)
    guard let cipher else {
      let sum = context.withUnsafeBytes { cs_checksum($0.baseAddress, $0.count, body.baseAddress, body.count) }
      guard sum == checksum else { return nil }
      let block = IncrementBlock(count: body.count)
      block.bytes.copyMemory(from: body)
      return block
    }
    guard checksum == 0, body.count >= cipher.overhead else { return nil }
    let block = IncrementBlock(count: body.count - cipher.overhead)
    let isOpen = context.withUnsafeBytes { cipher.open(body, $0, to: block.bytes) }
    return isOpen ? block : nil
  }

  private func context(_ index: UInt64, _ flags: UInt32) -> [UInt8] {
    var bytes = salt
    bytes.put32(UInt32(truncatingIfNeeded: index))
    bytes.put32(UInt32(truncatingIfNeeded: index >> 32))
    bytes.put32(flags)
    return bytes
  }

  static func checksum(_ key: [UInt8], _ bytes: [UInt8]) -> UInt32 {
    key.withUnsafeBytes { key in
      bytes.withUnsafeBytes { cs_checksum(key.baseAddress, key.count, $0.baseAddress, $0.count) }
    }
  }
}

/// The entries of a block, in memory of their own.
final class IncrementBlock {
  let bytes: UnsafeMutableRawBufferPointer

  init(count: Int) { bytes = .allocate(byteCount: count, alignment: 16) }

  deinit { bytes.deallocate() }

  /// The bytes, of memory of their own: the block may go before `bytes` is read.
  func copy() -> [UInt8] { withExtendedLifetime(self) { Array(bytes) } }
}

extension [UInt8] {
  /// Appends a number, the lowest byte first.
  mutating func put32(_ number: UInt32) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// A number that was put at an offset; the caller has checked that it is there.
  func number32(at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32($1 * 8) }
  }
}
