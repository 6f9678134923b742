import SyncModel

// A page by itself, as a client keeps it: the bytes that it has in a message.

extension StatePage {
  /// Encodes the page. O(its size).
  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.put(self)
    return writer.bytes
  }

  /// Decodes a page. Safe for arbitrary bytes; memory and time are linear in their number.
  package init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = ByteReader(bytes)
    self = try reader.page()
    try reader.end()
  }
}
