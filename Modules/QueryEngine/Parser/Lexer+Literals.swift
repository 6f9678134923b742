#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

extension Lexer {
  /// A string in either quote, with the escapes of JSON and `\'`, `\0`.
  mutating func string() throws(QueryError) -> String {
    let start = offset
    let quote = bytes[offset]
    var result: [UInt8] = []
    offset += 1
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      if byte == quote { return String(decoding: result, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") { try escape(into: &result) } else { result.append(byte) }
    }
    throw fault("The string is not closed.", at: start)
  }

  private mutating func escape(into result: inout [UInt8]) throws(QueryError) {
    let byte = peek()
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): result.append(10)
    case UInt8(ascii: "t"): result.append(9)
    case UInt8(ascii: "r"): result.append(13)
    case UInt8(ascii: "b"): result.append(8)
    case UInt8(ascii: "f"): result.append(12)
    case UInt8(ascii: "0"): result.append(0)
    case UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "'"), UInt8(ascii: "\""): result.append(byte)
    case UInt8(ascii: "u"):
      var unit = try hexadecimal()
      if (0xD800..<0xDC00).contains(unit), peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
        offset += 2
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw fault("The escaped surrogate has no second half.", at: offset - 4) }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else { throw fault("The escaped surrogate stands alone.", at: offset - 4) }
      result.append(contentsOf: String(scalar).utf8)
    default: throw fault("'\\' before this character has no meaning in a string.", at: offset - 2)
    }
  }

  mutating func hexadecimal() throws(QueryError) -> UInt32 {
    guard offset + 4 <= bytes.count, let unit = UInt32(text(offset..<offset + 4), radix: 16), peek() != UInt8(ascii: "+") else {
      throw fault("'\\u' needs four hexadecimal digits.")
    }
    offset += 4
    return unit
  }

  /// A number without its sign, or a date.
  mutating func number() throws(QueryError) -> Token.Kind {
    let start = offset
    if peek() == 48, peek(1) | 32 == UInt8(ascii: "x") {
      offset += 2
      let digits = offset
      while isHexDigit(peek()) { offset += 1 }
      guard offset > digits, let value = Int64(text(digits..<offset), radix: 16) else {
        throw fault("This is no hexadecimal number.", at: start)
      }
      try endNumber(start)
      return .constant(.int(value))
    }
    skipDigits()
    if let date = try date(start) { return date }
    var isReal = false
    if peek() == UInt8(ascii: ".") {
      isReal = true
      offset += 1
      skipDigits()
    }
    if peek() | 32 == UInt8(ascii: "e") {
      isReal = true
      offset += 1
      if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { offset += 1 }
      guard Lexer.isDigit(peek()) else { throw fault("The exponent has no digits.", at: start) }
      skipDigits()
    }
    let digits = text(start..<offset)
    if peek() | 32 == UInt8(ascii: "f"), !Lexer.startsName(peek(1)), !Lexer.isDigit(peek(1)), let float = Float(digits.readable) {
      offset += 1
      return .constant(.float(float))
    }
    try endNumber(start)
    if !isReal, let value = Int64(digits) { return .constant(.int(value)) }
    // More digits than a double can represent.
    if digits.utf8.prefix(while: { $0 | 32 != UInt8(ascii: "e") }).count(where: Lexer.isDigit) > 17, let exact = Decimal128(digits),
      exact.isFinite
    {
      return .constant(.decimal(exact))
    }
    guard let value = Double(digits.readable) else { throw fault("This is no number.", at: start) }
    return .constant(.double(value))
  }

  private func endNumber(_ start: Int) throws(QueryError) {
    let byte = peek()
    if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") {
      throw fault("This is no number.", at: start)
    }
  }

  mutating func skipDigits() { while Lexer.isDigit(peek()) { offset += 1 } }
  private func isHexDigit(_ byte: UInt8) -> Bool { Lexer.isDigit(byte) || (97...102).contains(byte | 32) }

  /// The string of `B64"…"`, for bytes that cannot be written. `binary(B64"…")` is data.
  mutating func base64() throws(QueryError) -> Data {
    let start = offset
    guard let data = Data(base64Encoded: try string()) else { throw fault("This is not Base64.", at: start) }
    return data
  }

  /// `uuid(…)`, `bin('…')`, and the literals of types that no property has; nil if no bracket follows.
  mutating func call(_ name: String, _ start: Int) throws(QueryError) -> Token.Kind? {
    let after = offset
    while Lexer.isSpace(peek()) { offset += 1 }
    guard peek() == UInt8(ascii: "(") else {
      offset = after
      return nil
    }
    offset += 1
    let inside = offset
    if name == "bin" || name == "binary" {
      while Lexer.isSpace(peek()) { offset += 1 }
      let isBase64 = bytes[offset...].starts(with: "B64".utf8)
      if isBase64 { offset += 3 }
      guard peek() == UInt8(ascii: "'") || peek() == UInt8(ascii: "\"") else { throw fault("'\(name)' needs a string.") }
      let content = try isBase64 ? base64() : Data(string().utf8)
      while Lexer.isSpace(peek()) { offset += 1 }
      guard peek() == UInt8(ascii: ")") else { throw fault("The bracket of '\(name)' is not closed.") }
      offset += 1
      return .constant(.data(content))
    }
    while offset < bytes.count, peek() != UInt8(ascii: ")") { offset += 1 }
    guard offset < bytes.count else { throw fault("The bracket of '\(name)' is not closed.", at: start) }
    let content = text(inside..<offset)
    offset += 1
    let value: Value? =
      switch name {
      case "uuid": UUID(uuidString: content).map(Value.uuid)
      case "float": Float(content).map(Value.float)
      case "date": Double(content).map { .date(Timestamp(secondsSinceReferenceDate: $0)) }
      case "link": Lexer.link(content)
      case "oid": ObjectId(content).map(Value.objectId)
      case "decimal": Decimal128(content).map(Value.decimal)
      default: nil
      }
    if let value { return .constant(value) }
    throw fault("'\(content)' is no \(name).", at: inside)
  }

  /// A key, or a table and a key.
  private static func link(_ content: String) -> Value? {
    let parts = content.split(separator: ":", omittingEmptySubsequences: false)
    guard let key = parts.last.flatMap({ Int64($0) }).map({ ObjectKey($0) }) else { return nil }
    if parts.count == 1 { return .link(key) }
    return parts.count == 2 ? UInt16(parts[0]).map { .object(ObjectLink(TableID($0), key)) } : nil
  }

  /// `L0:1`, a link by table and key, meaningful only within one file.
  mutating func objectLink() -> Token.Kind? {
    let start = offset
    offset += 1
    skipDigits()
    guard peek() == UInt8(ascii: ":"), Lexer.isDigit(peek(1)) else {
      offset = start
      return nil
    }
    offset += 1
    skipDigits()
    return .unsupported("L")
  }
}

extension String {
  /// `.5`, `5.` and `5.e3` as `0.5`, `5.0` and `5.0e3`, the forms that Swift parses.
  fileprivate var readable: String {
    var text = hasPrefix(".") ? "0" + self : self
    if let at = text.firstIndex(where: { $0 == "e" || $0 == "E" }), text[..<at].hasSuffix(".") {
      text.insert("0", at: at)
    }
    return text.hasSuffix(".") ? text + "0" : text
  }
}
