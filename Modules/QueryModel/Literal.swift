#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

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

  /// `T<seconds>:<nanoseconds>` since 1970, both of one sign; of NaN, the infinities and what is as good as they, the number
  /// of seconds since 2001. What the text is read as is the very same.
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
