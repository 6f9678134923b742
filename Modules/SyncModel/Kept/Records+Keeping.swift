// The codec of what a file keeps beside its objects: with values, and with the file's words (`RecordWords`) in the place of names.

extension ObjectRecord {
  /// The bytes that a file keeps. O(size).
  package func encoded(_ words: RecordWords) -> [UInt8] {
    var writer = KeptWriter(words)
    writer.put(self)
    return writer.body.bytes
  }

  /// Safe for any bytes whatever; memory and time are linear in their number.
  package init(decoding bytes: [UInt8], _ words: RecordWords) throws(CodingError) {
    var reader = KeptReader(bytes, words)
    self = try reader.record()
    try reader.body.end()
  }
}

extension ListPiece {
  /// The bytes that a file keeps. O(size).
  package func encoded(_ words: RecordWords) -> [UInt8] {
    var writer = KeptWriter(words)
    writer.body.put(elements.count)
    for element in elements { writer.put(element) }
    return writer.body.bytes
  }

  /// Safe for any bytes whatever; memory and time are linear in their number.
  package init(decoding bytes: [UInt8], _ words: RecordWords) throws(CodingError) {
    var reader = KeptReader(bytes, words)
    elements = try reader.elements()
    try reader.body.end()
  }
}
