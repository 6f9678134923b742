/// What is wrong with a file of cases: no JSON, or not of a form that is known.
public struct CaseFileError: Error, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}

/// Reads JSON text. Total: any bytes give a document or an error with the line.
struct JSONReader {
  private let bytes: [UInt8]
  private var at = 0
  private var depth = 0
  private static let depthMax = 300

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func read(_ bytes: [UInt8]) throws(CaseFileError) -> JSONValue {
    var reader = JSONReader(bytes)
    let value = try reader.value()
    reader.skipSpace()
    guard reader.at == bytes.count else { throw reader.fault("Something follows the document") }
    return value
  }

  private func fault(_ message: String) -> CaseFileError {
    let line = 1 + bytes.prefix(at).count { $0 == 10 }
    return CaseFileError("\(message) in line \(line).")
  }

  private mutating func skipSpace() {
    while at < bytes.count, [32, 9, 10, 13].contains(bytes[at]) { at += 1 }
  }

  private mutating func take(_ byte: Character) -> Bool {
    skipSpace()
    guard at < bytes.count, bytes[at] == byte.asciiValue else { return false }
    at += 1
    return true
  }

  private mutating func value() throws(CaseFileError) -> JSONValue {
    skipSpace()
    guard at < bytes.count else { throw fault("The document ends early") }
    depth += 1
    defer { depth -= 1 }
    guard depth <= JSONReader.depthMax else { throw fault("The document is nested too deeply") }
    switch bytes[at] {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), 48...57: return try number()
    default:
      for (word, value) in [("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null)]
      where bytes[at...].starts(with: word.utf8) {
        at += word.utf8.count
        return value
      }
      throw fault("There is no value")
    }
  }

  private mutating func object() throws(CaseFileError) -> JSONValue {
    at += 1
    var members: [JSONValue.Member] = []
    if take("}") { return .object(members) }
    repeat {
      skipSpace()
      guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw fault("A member has no name") }
      let name = try string()
      guard take(":") else { throw fault("A colon is missing") }
      members.append(.init(name: name, value: try value()))
    } while take(",")
    guard take("}") else { throw fault("A brace is not closed") }
    return .object(members)
  }

  private mutating func array() throws(CaseFileError) -> JSONValue {
    at += 1
    var elements: [JSONValue] = []
    if take("]") { return .array(elements) }
    repeat { elements.append(try value()) } while take(",")
    guard take("]") else { throw fault("A bracket is not closed") }
    return .array(elements)
  }

  private mutating func number() throws(CaseFileError) -> JSONValue {
    let start = at
    var isWhole = true
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "-"), UInt8(ascii: "+"), 48...57: break
      case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isWhole = false
      default: return try number(start, isWhole)
      }
      at += 1
    }
    return try number(start, isWhole)
  }

  private func number(_ start: Int, _ isWhole: Bool) throws(CaseFileError) -> JSONValue {
    let text = String(decoding: bytes[start..<at], as: UTF8.self)
    if isWhole, let number = Int64(text) { return .int(number) }
    guard let number = Double(text) else { throw fault("'\(text)' is no number") }
    return .double(number)
  }

  private mutating func string() throws(CaseFileError) -> String {
    at += 1
    var result: [UInt8] = []
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: result, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") { try escape(into: &result) } else { result.append(byte) }
    }
    throw fault("A string is not closed")
  }

  private mutating func escape(into result: inout [UInt8]) throws(CaseFileError) {
    guard at < bytes.count else { throw fault("A string is not closed") }
    let byte = bytes[at]
    at += 1
    switch byte {
    case UInt8(ascii: "n"): result.append(10)
    case UInt8(ascii: "t"): result.append(9)
    case UInt8(ascii: "r"): result.append(13)
    case UInt8(ascii: "b"): result.append(8)
    case UInt8(ascii: "f"): result.append(12)
    case UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "\""): result.append(byte)
    case UInt8(ascii: "u"):
      var unit = try hexadecimal()
      if (0xD800..<0xDC00).contains(unit), at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"),
        bytes[at + 1] == UInt8(ascii: "u")
      {
        at += 2
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw fault("An escaped surrogate has no second half") }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      result.append(contentsOf: String(Unicode.Scalar(unit) ?? "\u{FFFD}").utf8)
    default: throw fault("An escape is unknown")
    }
  }

  private mutating func hexadecimal() throws(CaseFileError) -> UInt32 {
    guard at + 4 <= bytes.count, let unit = UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16) else {
      throw fault("An escape needs four hexadecimal digits")
    }
    at += 4
    return unit
  }
}
