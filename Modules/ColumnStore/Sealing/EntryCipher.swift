import StorageInterface
import StoreValues

/// Encrypts the entries of one file below the column store: their values, and what is a user's in their keys.
///
/// A value has a random nonce and is authenticated with the name of its entry, so values cannot change places. A name follows from
/// its key without a nonce, because an entry is found by it: sixteen bytes that follow from the whole key, and the rest XORed with
/// what follows from those (a synthetic nonce, as in RFC 5297). Names are in another order than their keys.
package struct EntryCipher: Sendable {
  /// What the cipher's masks are made for. No two purposes have a context in common.
  private enum Purpose: UInt8 {
    case tag = 1
    case rest = 2
    case side = 3
  }

  /// How much longer a name is than its key.
  static let tagCount = 16
  private static let maskCount = 32
  private let cipher: any PageCipher

  package init(_ cipher: any PageCipher) { self.cipher = cipher }

  /// How much longer an encrypted value is.
  package var overhead: Int { cipher.overhead }

  // MARK: Values

  func seal(_ value: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws(StorageError) -> ValueBuffer {
    try ValueBuffer(count: value.count + overhead) { out throws(StorageError) in
      guard cipher.seal(value, name, to: out) else { throw StorageError(.io, .transaction, "An entry could not be encrypted.") }
    }
  }

  /// Throws `.corrupt` if the value was not written with the key, under this name.
  func open(_ sealed: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws(StorageError) -> ValueBuffer {
    guard sealed.count >= overhead else { throw .corrupt("an encrypted entry is cut off") }
    return try ValueBuffer(count: sealed.count - overhead) { out throws(StorageError) in
      guard cipher.open(sealed, name, to: out) else { throw .corrupt("an entry is not what was written with the key") }
    }
  }

  // MARK: Names

  /// The name of a key whose first `count` bytes stay as they are.
  func hidden(_ key: some Sequence<UInt8>, after count: Int) -> [UInt8] {
    let key = Array(key)
    let tag = tag(key)
    var rest = Array(key[count...])
    mask(&rest, tag)
    return Array(key[..<count]) + tag + rest
  }

  /// The key of a name; nil if the name was not made with the file's key.
  func shown(_ name: UnsafeRawBufferPointer, after count: Int) -> [UInt8]? {
    guard name.count >= count + EntryCipher.tagCount else { return nil }
    let tag = Array(name[count..<count + EntryCipher.tagCount])
    var rest = Array(name[(count + EntryCipher.tagCount)...])
    mask(&rest, tag)
    let key = Array(name[..<count]) + rest
    return self.tag(key) == tag ? key : nil
  }

  /// Sixteen bytes for the key of a side entry, which is kept elsewhere.
  func side(_ key: some Sequence<UInt8>) -> [UInt8] { fingerprint(.side, Array(key)) }

  private func tag(_ key: [UInt8]) -> [UInt8] { fingerprint(.tag, key) }

  private func fingerprint(_ purpose: Purpose, _ bytes: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: EntryCipher.tagCount)
    mask(&result, 0..<result.count, [purpose.rawValue] + bytes)
    return result
  }

  private func mask(_ rest: inout [UInt8], _ tag: [UInt8]) {
    for start in stride(from: 0, to: rest.count, by: EntryCipher.maskCount) {
      let place = withUnsafeBytes(of: UInt32(truncatingIfNeeded: start).littleEndian) { Array($0) }
      mask(&rest, start..<min(start + EntryCipher.maskCount, rest.count), [Purpose.rest.rawValue] + tag + place)
    }
  }

  private func mask(_ bytes: inout [UInt8], _ range: Range<Int>, _ context: [UInt8]) {
    bytes.withUnsafeMutableBytes { bytes in
      context.withUnsafeBytes { cipher.mask(UnsafeMutableRawBufferPointer(rebasing: bytes[range]), $0) }
    }
  }
}
