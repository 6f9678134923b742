#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues
import SyncModel

/// The key of an object's own side entry, as short as possible: the number of its class in the file, and its primary key.
///
/// | bytes | |
/// |---|---|
/// | class u8, or 255 and u16 | its number in `RecordWords` |
/// | `80`+n, n bytes | an integer from 0 on, without zeros in front; 0 has none |
/// | `7F`−n, n bytes | one below 0: how far below −1 |
/// | `A0`, text | up to 200 bytes |
/// | `A1`, 16 bytes · `A2`, 12 bytes | a UUID, an ObjectId |
/// | `A3`, replica u64, key u64 | of a type without primary key: who created it, and its key there |
///
/// Numbers are big endian, so neighbours are adjacent. An object that fits none of these has no such key: its text is longer, or there
/// are too many classes.
enum ObjectEntryKey {
  static let textMax = 200

  /// Returns nil for an object without such a key, or of a class without a number.
  static func bytes(_ space: UInt8, _ object: ObjectIdentity, class number: Int?) -> [UInt8]? {
    guard let number else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20)
    bytes.append(space)
    if number < 255 {
      bytes.append(UInt8(number))
    } else {
      bytes += [255, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }
    switch object.key {
    case .int(let x) where x >= 0: append(UInt64(x), tag: { 0x80 + $0 }, to: &bytes)
    case .int(let x): append(UInt64(bitPattern: ~x), tag: { 0x7F - $0 }, to: &bytes)
    case .string(let x):
      guard x.text.utf8.count <= textMax else { return nil }
      bytes.append(0xA0)
      bytes += x.text.utf8
    case .uuid(let x):
      bytes.append(0xA1)
      withUnsafeBytes(of: x.uuid) { bytes += $0 }
    case .objectId(let x):
      bytes.append(0xA2)
      bytes += x.bytes
    case .created(let replica, let key):
      bytes.append(0xA3)
      bytes += SideName.bigEndian(replica.rawValue)
      bytes += SideName.bigEndian(key.rawValue)
    }
    return bytes
  }

  private static func append(_ number: UInt64, tag: (UInt8) -> UInt8, to bytes: inout [UInt8]) {
    let count = (64 - number.leadingZeroBitCount + 7) / 8
    bytes.append(tag(UInt8(count)))
    for byte in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(byte)))) }
  }

  /// The object of a key; nil if the bytes are not a key.
  static func object(_ key: UnsafeRawBufferPointer, _ words: RecordWords) -> ObjectIdentity? {
    guard key.count >= 3 else { return nil }
    var start = 2
    var number = Int(key[1])
    if number == 255 {
      guard key.count >= 5 else { return nil }
      number = Int(key[2]) << 8 | Int(key[3])
      start = 4
    }
    guard let name = words.name(numbered: number) else { return nil }
    let rest = UnsafeRawBufferPointer(rebasing: key[(start + 1)...])
    func integer() -> UInt64 { rest.reduce(0) { $0 << 8 | UInt64($1) } }
    switch key[start] {
    case 0x80...0x88: return ObjectIdentity(name, .int(Int64(bitPattern: integer())))
    case 0x77...0x7F: return ObjectIdentity(name, .int(~Int64(bitPattern: integer())))
    case 0xA0: return String(validating: rest, as: UTF8.self).map { ObjectIdentity(name, .string(Name($0))) }
    case 0xA1:
      guard case .uuid(let id)? = Value(bytes: rest, type: .uuid) else { return nil }
      return ObjectIdentity(name, .uuid(id))
    case 0xA2:
      guard case .objectId(let id)? = Value(bytes: rest, type: .objectId) else { return nil }
      return ObjectIdentity(name, .objectId(id))
    case 0xA3 where rest.count == 16:
      let replica = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let own = rest.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return ObjectIdentity(name, .created(ReplicaID(replica), ObjectKey(Int64(bitPattern: own))))
    default: return nil
    }
  }
}
