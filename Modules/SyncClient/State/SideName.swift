#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues
import SyncModel

/// The names of objects in the keys of side entries that are scanned by prefix.
///
/// A name is a prefix of the object's identity, at most `countMax` bytes, so that every class and primary key fits a key. Two objects
/// with long names may share one, so an entry also holds the identities it is about.
enum SideName {
  static let countMax = 200

  static func bytes(_ object: ObjectIdentity) -> [UInt8] {
    var bytes = Array(object.className.text.utf8)
    bytes.append(0)
    switch object.key {
    case .int(let x): append(UInt64(bitPattern: x) ^ 1 << 63, to: &bytes)
    case .string(let x): bytes += x.text.utf8
    case .uuid(let x): withUnsafeBytes(of: x.uuid) { bytes += $0 }
    case .objectId(let x): bytes += x.bytes
    case .created(let replica, let key):
      append(replica.rawValue, to: &bytes)
      append(UInt64(bitPattern: key.rawValue), to: &bytes)
    }
    if bytes.count > countMax { bytes.removeSubrange(countMax...) }
    return bytes
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  static func bigEndian<N: FixedWidthInteger>(_ number: N) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

/// Decodes what replication stores in the file; invalid content is reported as damage of the file.
func reading<R>(_ what: @autoclosure () -> String, _ body: () throws(CodingError) -> R) throws(StorageError) -> R {
  do throws(CodingError) { return try body() } catch {
    throw StorageError(
      .corrupt, .transaction, "The file's \(what()) for replication cannot be read: \(error)",
      remedy: "Open it without replication to save its objects, and join the server's store with a new file.")
  }
}
