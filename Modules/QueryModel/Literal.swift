#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Values

/// The pieces of texts that stand for values.
enum Literal {
  /// In double quotes, with the escapes the grammar has.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0": result += "\\0"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  static func number(_ value: Double) -> String {
    if value.isNaN { return "nan" }
    if value.isInfinite { return value < 0 ? "-inf" : "inf" }
    return "\(value)"
  }

  /// `T<seconds>:<nanoseconds>` since 1970 where that is the date to the last bit, else its own number of seconds.
  static func date(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    if abs(seconds) < 1e15 {
      let since1970 = seconds + Date.timeIntervalBetween1970AndReferenceDate
      let whole = since1970.rounded(.towardZero)
      let nanoseconds = ((seconds + Date.timeIntervalBetween1970AndReferenceDate - whole) * 1e9).rounded()
      let again = whole - Date.timeIntervalBetween1970AndReferenceDate + nanoseconds * 1e-9
      if again.bitPattern == seconds.bitPattern, abs(nanoseconds) < 1e9 { return "T\(Int64(whole)):\(Int64(nanoseconds))" }
    }
    return "date(\(number(seconds)))"
  }
}

extension Value {
  /// The value as the grammar of conditions writes it.
  package var literal: String {
    switch self {
    case .null: "NULL"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .int(let value): "\(value)"
    case .float(let value): "float(\(value.isFinite ? "\(value)" : Literal.number(Double(value))))"
    case .double(let value): Literal.number(value)
    case .string(let text): Literal.quoted(text)
    case .data(let data): "binary(B64\"\(data.base64EncodedString())\")"
    case .date(let date): Literal.date(date)
    case .uuid(let uuid): "uuid(\(uuid.uuidString))"
    case .link(let key): "link(\(key.rawValue))"
    case .objectId(let id): "oid(\(id))"
    case .decimal(let decimal): "decimal(\(decimal))"
    case .object(let link): "link(\(link.table.rawValue):\(link.key.rawValue))"
    case .list(let elements): "[" + elements.map(\.literal).joined(separator: ", ") + "]"
    case .map(let map): "[" + map.entries.map { "\(Literal.quoted($0.key)): \($0.value.literal)" }.joined(separator: ", ") + "]"
    }
  }
}
