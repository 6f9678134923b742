import StorageInterface
import StoreValues
import SyncModel

/// Maps object identities to objects of the file, and back.
///
/// An object with a primary key is found by that. An object without one is identified by its creator and its object key there. If its
/// object key in this file differs, the file stores both directions as side entries:
///
/// | key | value |
/// |---|---|
/// | `i`, 0, table u16, replica u64, key u64 | the key here, u64 |
/// | `i`, 1, table u16, key here u64 | replica u64, key u64 |
///
/// Numbers are big endian. Confined to the write it is made for.
package struct ObjectNames {
  /// The file's replica.
  package let own: ReplicaID
  private let sides: any SideWriting
  private let types = ShownTypes()

  package init(_ sides: any SideWriting, own: ReplicaID) {
    self.sides = sides
    self.own = own
  }

  /// The type of an object; nil for a class that this file does not have, or has only as an embedded type.
  func type(of object: ObjectIdentity) -> ShownType? { types.type(of: object.className, sides.catalog) }

  /// Where the object is in the file; nil if it does not exist. O(log n).
  package func place(of object: ObjectIdentity) throws(StorageError) -> ObjectLink? {
    if let place = types.place(of: object) { return place }
    guard let type = type(of: object), let key = try key(of: object, type) else { return nil }
    let place = ObjectLink(type.table.id, key)
    types.note(object, at: place)
    return place
  }

  private func key(of object: ObjectIdentity, _ type: ShownType) throws(StorageError) -> ObjectKey? {
    let table = type.table
    if case .created(let replica, let key) = object.key {
      if let bytes = try sides.side(ObjectNames.away(table.id, replica, key)) {
        return ObjectKey(Int64(bitPattern: ObjectNames.number(bytes, 0)))
      }
      // In a restored file, another object may have the row: one created after an object that the file no longer knows.
      guard replica == own, try sides.contains(table.id, key), try sides.side(ObjectNames.here(ObjectLink(table.id, key))) == nil
      else { return nil }
      return key
    }
    guard let index = type.primaryIndex, let key = object.primaryKey else { return nil }
    if case .int(let number) = key { return try sides.key(in: index, equalTo: number) }
    return try sides.key(in: index, equal: [key])
  }

  /// The identity of a live object; nil if it does not exist, or its type is embedded.
  package func identity(of place: ObjectLink) throws(StorageError) -> ObjectIdentity? {
    try ObjectNames.identity(of: place, in: sides, own: own)
  }

  /// The same in a version that is only read.
  static func identity(of place: ObjectLink, in sides: any SideReading, own: ReplicaID) throws(StorageError) -> ObjectIdentity? {
    guard let table = sides.catalog[place.table], !table.isEmbedded else { return nil }
    let name = Name(table.name)
    if let primaryKey = table.primaryKey {
      return ObjectIdentity(name, primaryKey: try sides.value(table.column(primaryKey.id), place.key))
    }
    guard let bytes = try sides.side(ObjectNames.here(place)) else { return ObjectIdentity(name, .created(own, place.key)) }
    let replica = ReplicaID(ObjectNames.number(bytes, 0))
    return ObjectIdentity(name, .created(replica, ObjectKey(Int64(bitPattern: ObjectNames.number(bytes, 8)))))
  }

  /// Stores the place of an object that another replica created. No effect for an object with a primary key.
  package func note(_ object: ObjectIdentity, at place: ObjectLink) throws(StorageError) {
    types.note(object, at: place)
    guard case .created(let replica, let key) = object.key, replica != own || key != place.key else { return }
    try sides.setSide(ObjectNames.away(place.table, replica, key), ObjectNames.bytes(UInt64(bitPattern: place.key.rawValue)))
    try sides.setSide(
      ObjectNames.here(place), ObjectNames.bytes(replica.rawValue) + ObjectNames.bytes(UInt64(bitPattern: key.rawValue)))
  }

  /// Forgets the place of a deleted object. No effect for an object with a primary key.
  package func forget(_ object: ObjectIdentity, at place: ObjectLink) throws(StorageError) {
    types.forget()
    guard case .created(let replica, let key) = object.key else { return }
    try sides.setSide(ObjectNames.away(place.table, replica, key), nil)
    try sides.setSide(ObjectNames.here(place), nil)
  }

  private static let space = UInt8(ascii: "i")

  private static func away(_ table: TableID, _ replica: ReplicaID, _ key: ObjectKey) -> [UInt8] {
    [space, 0] + table.bytes + bytes(replica.rawValue) + bytes(UInt64(bitPattern: key.rawValue))
  }

  private static func here(_ place: ObjectLink) -> [UInt8] {
    [space, 1] + place.table.bytes + bytes(UInt64(bitPattern: place.key.rawValue))
  }

  private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

  /// Missing bytes count as zeros; the entry then names nothing that exists.
  private static func number(_ bytes: [UInt8], _ start: Int) -> UInt64 {
    (start..<start + 8).reduce(0) { $0 << 8 | UInt64($1 < bytes.count ? bytes[$1] : 0) }
  }
}

extension TableID {
  fileprivate var bytes: [UInt8] { [UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)] }
}
