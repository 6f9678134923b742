import StoreValues

/// Splits a query's text, as UTF-8, into tokens. Total: every byte sequence gives tokens or an error.
struct Lexer {
  let bytes: [UInt8]
  var offset = 0
  private var sequence = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The byte at a distance from the current one; 0, which no token contains, past the end.
  func peek(_ distance: Int = 0) -> UInt8 {
    let at = offset + distance
    return at < bytes.count ? bytes[at] : 0
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  func fault(_ message: String, at position: Int? = nil) -> QueryError {
    QueryError(
      .syntax, message, remedy: "See the grammar of conditions.", position: position ?? offset)
  }

  mutating func next() throws(QueryError) -> Token {
    while offset < bytes.count, Lexer.isSpace(bytes[offset]) { offset += 1 }
    let start = offset
    let kind = try kind()
    return Token(kind: kind, start: start, end: offset)
  }

  private mutating func kind() throws(QueryError) -> Token.Kind {
    if offset == bytes.count { return .end }
    let byte = bytes[offset]
    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return .constant(.string(try string())) }
    if Lexer.isDigit(byte) || (byte == UInt8(ascii: ".") && Lexer.isDigit(peek(1))) { return try number() }
    if byte == UInt8(ascii: "%") { return try format() }
    if byte == UInt8(ascii: "$"), let argument = try numbered() { return argument }
    if byte == UInt8(ascii: "\\") { return .name(try name(), isEscaped: true) }
    if byte == UInt8(ascii: "#"), Lexer.startsName(peek(1)) || peek(1) == UInt8(ascii: "\\") {
      offset += 1
      return .name(try name(), isEscaped: true)
    }
    if byte == UInt8(ascii: "@"), Lexer.startsName(peek(1)) {
      offset += 1
      return .at(try name())
    }
    if Lexer.startsName(byte) { return try word() }
    return try symbol()
  }

  private mutating func symbol() throws(QueryError) -> Token.Kind {
    let two = offset + 1 < bytes.count ? text(offset..<offset + 2) : ""
    if ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**"].contains(two) {
      offset += 2
      return .symbol(two)
    }
    let one = String(UnicodeScalar(bytes[offset]))
    guard "=<>!()[]{},.+-*/".contains(one) else { throw fault("'\(one)' has no meaning here.") }
    offset += 1
    return .symbol(one)
  }

  /// `$3` or `$K3`; nil if the dollar begins a name.
  private mutating func numbered() throws(QueryError) -> Token.Kind? {
    let isPath = peek(1) == UInt8(ascii: "K") && Lexer.isDigit(peek(2))
    guard isPath || Lexer.isDigit(peek(1)) else { return nil }
    offset += isPath ? 2 : 1
    let start = offset
    while Lexer.isDigit(peek()) { offset += 1 }
    guard let number = Int(text(start..<offset)) else { throw fault("The number of the argument is too large.", at: start) }
    return .argument(number, isPath: isPath)
  }

  /// `%@`, `%K`, and C's `%d %i %u %f %g %s`, with or without `l`.
  private mutating func format() throws(QueryError) -> Token.Kind {
    let start = offset
    offset += 1
    while peek() == UInt8(ascii: "l") || peek() == UInt8(ascii: "q") { offset += 1 }
    let letter = peek()
    guard "@KdiufgsDU".utf8.contains(letter) else { throw fault("'%' needs '@', 'K' or a letter of a number.", at: start) }
    offset += 1
    defer { sequence += 1 }
    return .argument(sequence, isPath: letter == UInt8(ascii: "K"))
  }

  /// A name, or a literal that begins like one: `T0:0`, `uuid(…)`, `B64"…"`, `inf`.
  private mutating func word() throws(QueryError) -> Token.Kind {
    let start = offset
    if let date = try timestamp() { return date }
    if peek() == UInt8(ascii: "L"), Lexer.isDigit(peek(1)), let link = objectLink() { return link }
    var name = try name()
    if name.utf8.first == UInt8(ascii: "T"), name.utf8.dropFirst().allSatisfy(Lexer.isDigit) { name += dateLikeName() }
    let lowercased = name.lowercased()
    if lowercased == "b64", peek() == UInt8(ascii: "\"") || peek() == UInt8(ascii: "'") {
      return .constant(.string(String(decoding: try base64(), as: UTF8.self)))
    }
    if Lexer.calls.contains(lowercased), let call = try call(lowercased, start) { return call }
    return .name(name, isEscaped: false)
  }

  /// The rest of a name like a date, `T2017-12-04`, which needs no backslashes.
  private mutating func dateLikeName() -> String {
    let start = offset
    while peek() == UInt8(ascii: "-"), Lexer.isDigit(peek(1)) {
      offset += 1
      skipDigits()
    }
    return text(start..<offset)
  }

  /// Letters, digits, `_`, `$` and all non-ASCII characters; a backslash escapes any other.
  mutating func name() throws(QueryError) -> String {
    var result: [UInt8] = []
    while offset < bytes.count {
      let byte = bytes[offset]
      if Lexer.startsName(byte) || Lexer.isDigit(byte) {
        result.append(byte)
        offset += 1
      } else if byte == UInt8(ascii: "\\") {
        try nameEscape(into: &result)
      } else {
        break
      }
    }
    // A path would take it for an operator.
    if result.first == UInt8(ascii: "@") { throw fault("No property's name begins with '@'.") }
    return String(decoding: result, as: UTF8.self)
  }

  /// `\t`, `\n`, `\r`, `\uXXXX`, or a backslash before a character that is not a letter.
  private mutating func nameEscape(into result: inout [UInt8]) throws(QueryError) {
    let byte = peek(1)
    if byte == UInt8(ascii: "u") {
      offset += 2
      let unit = try hexadecimal()
      guard let scalar = Unicode.Scalar(unit) else { throw fault("The escape in this name is no character.", at: offset - 4) }
      result.append(contentsOf: String(scalar).utf8)
      return
    }
    if let control = Lexer.nameEscapes[byte] {
      result.append(control)
    } else if (32..<127).contains(byte), !(97...122).contains(byte | 32) {
      result.append(byte)
    } else {
      throw fault("A backslash in a name goes before t, n, r, u or a character that is no letter.")
    }
    offset += 2
  }

  private static let nameEscapes: [UInt8: UInt8] = [UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13]

  private static let calls: Set<String> = ["uuid", "oid", "bin", "binary", "float", "date", "link", "decimal"]

  static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
  static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  static func startsName(_ byte: UInt8) -> Bool {
    byte >= 128 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || (65...90).contains(byte)
      || (97...122).contains(byte)
  }
}
