/// The text of an error, of a bounded length. Values and names of any size can be in it, and an error is to be printed, logged and
/// sent.
package enum ErrorText {
  /// The length, in UTF-8 bytes, up to which a text is left alone. A list of a hundred faults of a schema is below.
  package static let bytesMax = 8_000
  private static let headBytes = 6_000
  private static let tailBytes = 1_000

  /// `text`, without its middle if it is longer than `bytesMax`. O(1) for texts within the limit.
  package static func bounded(_ text: String) -> String {
    let bytes = text.utf8
    guard bytes.count > bytesMax else { return text }
    // Within a character, an index is rounded down to the character's first byte.
    let head = bytes.index(bytes.startIndex, offsetBy: headBytes)
    let tail = bytes.index(bytes.endIndex, offsetBy: -tailBytes)
    return "\(text[..<head])… (\(bytes.count - headBytes - tailBytes) more bytes) …\(text[tail...])"
  }
}
