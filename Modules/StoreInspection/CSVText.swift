/// Writes comma-separated values by RFC 4180.
///
/// Null is an empty field and the empty string is `""`, so the two differ. Lists and maps are written as JSON text.
enum CSVText {
  /// - Parameter isShown: whether a terminal shows the output. Then characters that it would interpret are escaped; otherwise every
  ///   byte is kept.
  static func append(_ record: [ShownField], to bytes: inout [UInt8], isShown: Bool) {
    for (position, field) in record.enumerated() {
      if position > 0 { bytes.append(UInt8(ascii: ",")) }
      if field.isCollection {
        var json: [UInt8] = []
        JSONText.append(field, to: &json)
        append(json, to: &bytes)
      } else if let text = field.scalarText {
        append(Array((isShown ? DisplayText.escaped(text) : text).utf8), to: &bytes)
      }
    }
    bytes.append(contentsOf: [0x0D, 0x0A])
  }

  private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
    let needsQuotes = text.isEmpty || text.contains { byte in
      byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 0x0D || byte == 0x0A
    }
    guard needsQuotes else {
      bytes.append(contentsOf: text)
      return
    }
    bytes.append(UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
