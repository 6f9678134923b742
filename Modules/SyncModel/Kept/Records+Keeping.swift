// The encoding of the records that a file keeps beside its objects: with values, and with numbers instead of names (`RecordWords`).

extension ObjectRecord {
  /// The bytes for the file. O(size).
  package func encoded(_ words: RecordWords) -> [UInt8] {
    var writer = KeptWriter(words)
    writer.put(self)
    return writer.body.bytes
  }

  /// Decodes a record. Safe for arbitrary bytes; memory and time are linear in their number.
  package init(decoding bytes: [UInt8], _ words: RecordWords) throws(CodingError) {
    var reader = KeptReader(bytes, words)
    self = try reader.record()
    try reader.body.end()
  }
}

extension ListPiece {
  /// The bytes for the file. O(size).
  package func encoded(_ words: RecordWords) -> [UInt8] {
    var writer = KeptWriter(words)
    writer.body.put(elements.count)
    for element in elements { writer.put(element) }
    return writer.body.bytes
  }

  /// Decodes a piece. Safe for arbitrary bytes; memory and time are linear in their number.
  package init(decoding bytes: [UInt8], _ words: RecordWords) throws(CodingError) {
    var reader = KeptReader(bytes, words)
    elements = try reader.elements()
    try reader.body.end()
  }
}
