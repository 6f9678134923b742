import StorageInterface
import SyncModel

/// Side entries by object, in one key space: a byte, then the `ObjectEntryKey`. Objects without such a key are in a second space, by a
/// prefix of their name; an entry there names the objects it is about.
struct SideEntries {
  let space: UInt8
  let sides: any SideWriting
  let words: RecordWords

  private var sharedSpace: UInt8 { space &- 32 }

  /// Calls the body with the object's entry; nil if there is none. O(log n).
  func entry<R>(of object: ObjectIdentity, _ body: ([UInt8]?) throws(StorageError) -> R) throws(StorageError) -> R {
    if let key = ObjectEntryKey.bytes(space, object, class: words.number(of: object.className)) {
      return try body(try sides.side(key))
    }
    // A class without objects so far has no number yet, and no entries.
    return try body(try shared(object).first { $0.object == object }?.bytes)
  }

  /// Stores the object's entry; nil removes it.
  func set(_ bytes: [UInt8]?, of object: ObjectIdentity) throws(StorageError) {
    if let key = ObjectEntryKey.bytes(space, object, class: words.newNumber(of: object.className)) {
      return try sides.setSide(key, bytes)
    }
    var all = try shared(object).filter { $0.object != object }
    if let bytes { all.append((object, bytes)) }
    if all.isEmpty { return try sides.setSide(sharedKey(object), nil) }
    var writer = ByteWriter()
    writer.put(all.count)
    for entry in all {
      writer.put(ObjectIdentity.encode([entry.object]))
      writer.put(entry.bytes)
    }
    try sides.setSide(sharedKey(object), writer.bytes)
  }

  private func sharedKey(_ object: ObjectIdentity) -> [UInt8] { [sharedSpace] + SideName.bytes(object) }

  private func shared(_ object: ObjectIdentity) throws(StorageError) -> [(object: ObjectIdentity, bytes: [UInt8])] {
    guard let bytes = try sides.side(sharedKey(object)) else { return [] }
    return try SideEntries.decoded(bytes)
  }

  private static func decoded(_ bytes: [UInt8]) throws(StorageError) -> [(object: ObjectIdentity, bytes: [UInt8])] {
    try reading("entries of objects") { () throws(CodingError) in
      var reader = ByteReader(bytes)
      var all: [(object: ObjectIdentity, bytes: [UInt8])] = []
      for _ in 0..<(try reader.count(of: 2)) {
        let objects = try ObjectIdentity.decode(Array(try reader.content()))
        guard let object = objects.first, objects.count == 1 else { throw reader.error(.value) }
        all.append((object, Array(try reader.content())))
      }
      try reader.end()
      return all
    }
  }

  /// Every object that has an entry, in no particular order.
  func objects() throws(StorageError) -> [ObjectIdentity] {
    var all: [ObjectIdentity] = []
    var isWhole = true
    try sides.sides(from: [space], below: [space + 1]) { key, _ in
      guard let object = ObjectEntryKey.object(key, words) else {
        isWhole = false
        return .stop
      }
      all.append(object)
      return .proceed
    }
    if !isWhole { try reading("keys of objects") { () throws(CodingError) in throw CodingError(.reference, at: 0) } }
    var found: [[UInt8]] = []
    try sides.sides(from: [sharedSpace], below: [sharedSpace + 1]) { _, value in
      found.append(Array(value))
      return .proceed
    }
    for value in found { all += try SideEntries.decoded(value).map(\.object) }
    return all
  }
}
