extension ObjectIdentity {
  /// Encodes identities in the given order, each string once. O(n).
  package static func encode(_ objects: [ObjectIdentity]) -> [UInt8] {
    var writer = TableWriter()
    writer.body.put(objects.count)
    for object in objects { writer.put(LinkTarget(object, epoch: .zero)) }
    return writer.finished(base: 0)
  }

  /// Decodes identities. Safe for arbitrary bytes; memory and time are linear in their number.
  package static func decode(_ bytes: [UInt8]) throws(CodingError) -> [ObjectIdentity] {
    var reader = try TableReader(ByteReader(bytes), base: 0)
    var objects: [ObjectIdentity] = []
    for _ in 0..<(try reader.body.count(of: 1)) {
      let start = reader.body.position
      let target = try reader.target()
      guard target.epoch == .zero else { throw CodingError(.value, at: start) }
      objects.append(target.object)
    }
    try reader.body.end()
    return objects
  }
}
