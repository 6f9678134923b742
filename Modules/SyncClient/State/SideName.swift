#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues
import SyncModel

/// The names of objects in the keys of side entries.
///
/// A name is a prefix of the object's identity, at most `countMax` bytes, so that every class and every primary key fits a key. Two
/// objects with long names may have one: an entry therefore holds the identities it is about, each with its own bytes (`SideEntries`).
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

/// Entries by object, in one space of keys: a byte, then the object's name.
struct SideEntries {
  let space: UInt8
  let sides: any SideWriting

  /// Where an object has its entry, with what the file has there of others: what was read once need not be read again to be written.
  struct Place {
    fileprivate let key: [UInt8]
    /// The identity, as it is written.
    fileprivate let name: [UInt8]
    fileprivate let others: [Entry]
  }

  fileprivate typealias Entry = (object: ObjectIdentity, name: ArraySlice<UInt8>, bytes: ArraySlice<UInt8>)

  /// Where an object's entry is, and what is kept of it; nil for nothing. O(log n).
  func entry(of object: ObjectIdentity) throws(StorageError) -> (place: Place, bytes: [UInt8]?) {
    let key = [space] + SideName.bytes(object)
    var all = try sides.side(key).map { bytes throws(StorageError) in try SideEntries.decoded(bytes) } ?? []
    guard let at = all.firstIndex(where: { $0.object == object }) else {
      return (Place(key: key, name: ObjectIdentity.encode([object]), others: all), nil)
    }
    let own = all.remove(at: at)
    return (Place(key: key, name: Array(own.name), others: all), Array(own.bytes))
  }

  /// nil removes it.
  func set(_ bytes: [UInt8]?, at place: Place) throws(StorageError) {
    let count = place.others.count + (bytes == nil ? 0 : 1)
    if count == 0 { return try sides.setSide(place.key, nil) }
    var writer = ByteWriter()
    writer.put(count)
    for other in place.others {
      writer.put(Array(other.name))
      writer.put(Array(other.bytes))
    }
    if let bytes {
      writer.put(place.name)
      writer.put(bytes)
    }
    try sides.setSide(place.key, writer.bytes)
  }

  /// Every object of which something is kept, in no order that means anything.
  func forEach(_ body: (ObjectIdentity, [UInt8]) throws(StorageError) -> Void) throws(StorageError) {
    var found: [[UInt8]] = []
    try sides.sides(from: [space], below: [space + 1]) { _, value in
      found.append(Array(value))
      return .proceed
    }
    for value in found { for entry in try SideEntries.decoded(value) { try body(entry.object, Array(entry.bytes)) } }
  }

  private static func decoded(_ bytes: [UInt8]) throws(StorageError) -> [Entry] {
    try reading("entries of objects") { () throws(CodingError) in
      var reader = ByteReader(bytes)
      var all: [Entry] = []
      for _ in 0..<(try reader.count(of: 2)) {
        let name = try reader.content()
        let objects = try ObjectIdentity.decode(Array(name))
        guard let object = objects.first, objects.count == 1 else { throw reader.error(.value) }
        all.append((object, name, try reader.content()))
      }
      try reader.end()
      return all
    }
  }
}

/// Reads what the file keeps for replication; what makes no sense there is damage of the file.
func reading<R>(_ what: String, _ body: () throws(CodingError) -> R) throws(StorageError) -> R {
  do throws(CodingError) { return try body() } catch {
    throw StorageError(
      .corrupt, .transaction, "The file's \(what) for replication cannot be read: \(error)",
      remedy: "Open it without replication to save its objects, and join the server's store with a new file.")
  }
}
