import SyncModel

/// The state of an object before an entry changed it.
///
/// It is kept as bytes, which are small beside what it takes to work with: for a handler that is behind there are many.
package struct ObjectBefore: Hashable, Sendable {
  package let object: ObjectIdentity
  /// The encoded state; empty if the object was not known.
  private let bytes: [UInt8]

  /// - Parameter state: nil if the object was not known.
  package init(_ object: ObjectIdentity, _ state: ObjectState?) { self.init(object, bytes: state?.encoded() ?? []) }

  private init(_ object: ObjectIdentity, bytes: [UInt8]) { (self.object, self.bytes) = (object, bytes) }

  /// The state; nil if the object was not known. O(its size).
  package func state() throws(CodingError) -> ObjectState? { bytes.isEmpty ? nil : try ObjectState(decoding: bytes) }

  /// The approximate size as stored.
  package var size: Int { bytes.count + 32 }

  /// Encodes a row.
  package static func encoded(_ all: [ObjectBefore]) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(all.count)
    for before in all {
      writer.put(ObjectIdentity.encode([before.object]))
      writer.put(before.bytes)
    }
    return writer.bytes
  }

  /// Decodes a row, but for the states. Safe for arbitrary bytes.
  package static func decode(_ row: [UInt8]) throws(CodingError) -> [ObjectBefore] {
    var reader = ByteReader(row)
    var all: [ObjectBefore] = []
    for _ in 0..<(try reader.count(of: 2)) {
      guard let object = try ObjectIdentity.decode(Array(try reader.content())).first else { throw reader.error(.value) }
      all.append(ObjectBefore(object, bytes: Array(try reader.content())))
    }
    try reader.end()
    return all
  }
}
