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
    var writer = ByteWriter()
    writer.put(raw: object.className.text.utf8)
    writer.put(byte: 0)
    switch object.key {
    case .int(let x): writer.put(raw: bigEndian(UInt64(bitPattern: x) ^ 1 << 63))
    case .string(let x): writer.put(raw: x.text.utf8)
    case .uuid(let x): withUnsafeBytes(of: x.uuid) { writer.put(raw: $0) }
    case .objectId(let x): writer.put(raw: x.bytes)
    case .created(let replica, let key):
      writer.put(raw: bigEndian(replica.rawValue))
      writer.put(raw: bigEndian(UInt64(bitPattern: key.rawValue)))
    }
    return Array(writer.bytes.prefix(countMax))
  }

  static func bigEndian<N: FixedWidthInteger>(_ number: N) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

/// Entries by object, in one space of keys: a byte, then the object's name.
struct SideEntries {
  let space: UInt8
  let sides: any SideWriting

  /// What is kept of an object; nil for nothing. O(log n).
  func bytes(of object: ObjectIdentity) throws(StorageError) -> [UInt8]? {
    try kept(key(object)).first { $0.object == object }?.bytes
  }

  /// nil removes it.
  func set(_ bytes: [UInt8]?, of object: ObjectIdentity) throws(StorageError) {
    let key = key(object)
    var all = try kept(key).filter { $0.object != object }
    if let bytes { all.append((object, bytes)) }
    try sides.setSide(key, all.isEmpty ? nil : SideEntries.encoded(all))
  }

  /// Every object of which something is kept, in no order that means anything.
  func forEach(_ body: (ObjectIdentity, [UInt8]) throws(StorageError) -> Void) throws(StorageError) {
    var found: [[UInt8]] = []
    try sides.sides(from: [space], below: [space + 1]) { _, value in
      found.append(Array(value))
      return .proceed
    }
    for value in found { for entry in try SideEntries.decoded(value) { try body(entry.object, entry.bytes) } }
  }

  private func key(_ object: ObjectIdentity) -> [UInt8] { [space] + SideName.bytes(object) }

  private typealias Entry = (object: ObjectIdentity, bytes: [UInt8])

  private func kept(_ key: [UInt8]) throws(StorageError) -> [Entry] {
    guard let bytes = try sides.side(key) else { return [] }
    return try SideEntries.decoded(bytes)
  }

  private static func encoded(_ all: [Entry]) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(all.count)
    for entry in all {
      writer.put(ObjectIdentity.encode([entry.object]))
      writer.put(entry.bytes)
    }
    return writer.bytes
  }

  private static func decoded(_ bytes: [UInt8]) throws(StorageError) -> [Entry] {
    try reading("entries of objects") { () throws(CodingError) in
      var reader = ByteReader(bytes)
      var all: [Entry] = []
      for _ in 0..<(try reader.count(of: 2)) {
        let objects = try ObjectIdentity.decode(Array(try reader.content()))
        guard let object = objects.first, objects.count == 1 else { throw reader.error(.value) }
        all.append((object, Array(try reader.content())))
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
