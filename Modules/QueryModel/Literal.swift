#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// Texts of literals.
enum Literal {
  /// In double quotes, with the escapes of the grammar.
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

  /// `T<seconds>:<nanoseconds>` since 1970, both with the same sign; for NaN, the infinities and times near them, the number of
  /// seconds since 2001. Parsing gives the identical time.
  static func date(_ date: Timestamp) -> String {
    guard var (seconds, nanoseconds) = date.secondsAndNanoseconds else { return "date(\(number(date.secondsSinceReferenceDate)))" }
    seconds += Timestamp.from1970
    if seconds < 0, nanoseconds > 0 {
      seconds += 1
      nanoseconds -= 1_000_000_000
    }
    return "T\(seconds):\(nanoseconds)"
  }
}

extension Value {
  /// The value in the grammar of conditions.
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
