#if Sync
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues
import SyncModel

/// The key of an object's row: bytes in the order of the identities. An identity too long for a database index is truncated and followed
/// by a digest; the row has the whole identity.
enum ObjectKeyBytes {
  /// An index entry can have a third of an 8 KiB page at most.
  private static let longest = 1_200

  static func bytes(of object: ObjectIdentity) -> [UInt8] {
    var bytes = escaped(object.className)
    switch object.key {
    case .int(let x):
      bytes.append(0)
      // Negative integers sort first.
      PostgresValue.put(UInt64(bitPattern: x) ^ 1 << 63, &bytes)
    case .string(let x): bytes += [1] + Array(x.text.utf8)
    case .uuid(let x):
      bytes.append(2)
      withUnsafeBytes(of: x.uuid) { bytes += $0 }
    case .objectId(let x): bytes += [3] + x.bytes
    case .created(let replica, let key):
      bytes.append(4)
      PostgresValue.put(replica.rawValue, &bytes)
      PostgresValue.put(UInt64(bitPattern: key.rawValue) ^ 1 << 63, &bytes)
    }
    guard bytes.count > longest else { return bytes }
    var cut = Array(bytes.prefix(longest - 17)) + [0xff]
    PostgresValue.put(digest(bytes), &cut)
    PostgresValue.put(digest(bytes.reversed()), &cut)
    return cut
  }

  /// An encoding in which no name is a prefix of another.
  private static func escaped(_ name: Name) -> [UInt8] {
    var bytes: [UInt8] = []
    for byte in name.text.utf8 { bytes += byte == 0 ? [0, 0xff] : [byte] }
    return bytes + [0, 0]
  }

  /// FNV-1a, of which collisions can be forged. A change of an object whose key is another's is refused. Two targets of one object with the
  /// same key share a row of the index of links: it goes with the link to either, and the other's purge does not find that object. Only who
  /// writes the object itself can do that.
  private static func digest(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
#endif
