/// Reads what `ByteWriter` wrote, from arbitrary bytes: each read stays within them and throws if they are not valid. A number is valid
/// in its shortest form only.
package struct ByteReader {
  private let bytes: [UInt8]
  package private(set) var position = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var left: Int { bytes.count - position }

  package func error(_ reason: CodingError.Reason) -> CodingError { CodingError(reason, at: position) }

  package mutating func byte() throws(CodingError) -> UInt8 {
    guard position < bytes.count else { throw error(.truncated) }
    defer { position += 1 }
    return bytes[position]
  }

  package mutating func number() throws(CodingError) -> UInt64 {
    let start = position
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      // The tenth byte has room for one bit. A last byte of zero would make the number longer than its shortest form.
      if shift == 63, byte > 1 { throw CodingError(.number, at: start) }
      if byte == 0, shift > 0 { throw CodingError(.number, at: start) }
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
  }

  package mutating func signed() throws(CodingError) -> Int64 {
    let raw = try number()
    return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
  }

  /// Reads the number of items that follow, each of at least `size` bytes, and throws if the remaining bytes cannot hold them. This
  /// bounds the memory that a caller reserves.
  package mutating func count(of size: Int) throws(CodingError) -> Int {
    let start = position
    let count = try number()
    guard count <= UInt64(left / size) else { throw CodingError(.count, at: start) }
    return Int(count)
  }

  package mutating func fixed<N: FixedWidthInteger>(_: N.Type) throws(CodingError) -> N {
    let size = N.bitWidth / 8
    guard left >= size else { throw error(.truncated) }
    defer { position += size }
    var value: N = 0
    for at in (position..<position + size).reversed() { value = value << 8 | N(truncatingIfNeeded: bytes[at]) }
    return value
  }

  package mutating func raw(_ count: Int) throws(CodingError) -> ArraySlice<UInt8> {
    guard count <= left else { throw error(.truncated) }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// A length and as many bytes.
  package mutating func content() throws(CodingError) -> ArraySlice<UInt8> { try raw(try count(of: 1)) }

  /// A length and that many bytes of valid UTF-8.
  package mutating func text() throws(CodingError) -> String {
    let start = position
    let content = try content()
    // Names and most texts are ASCII. The standard library's check of a slice is generic, and slow at that.
    if content.allSatisfy({ $0 < 0x80 }) { return String(decoding: content, as: UTF8.self) }
    guard let text = String(validating: content, as: UTF8.self) else { throw CodingError(.text, at: start) }
    return text
  }

  /// Throws if bytes are left.
  package func end() throws(CodingError) {
    guard left == 0 else { throw error(.trailing) }
  }
}
