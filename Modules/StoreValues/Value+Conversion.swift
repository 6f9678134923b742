#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Value {
  /// The value converted to another type: numbers of another kind if nothing is lost, except that a Double may be rounded to a
  /// Float, within its range; numbers from decimal text; UUIDs, ObjectIds, dates (ISO 8601) and data (base64) from text; a date from
  /// a number, as seconds since the reference date. The value itself if there is no conversion: check `fits` afterwards.
  package func converted(to type: ValueType) -> Value? {
    switch (self, type) {
    case (.int(let x), .double): return Double(exactly: x).map { .double($0) }
    case (.int(let x), .float): return Float(exactly: x).map { .float($0) }
    case (.float(let x), .double): return .double(Double(x))
    case (.double(let x), .float): return Float(x).isInfinite && x.isFinite ? nil : .float(Float(x))
    case (.double(let x), .int8), (.double(let x), .int16), (.double(let x), .int32), (.double(let x), .int64):
      return Int64(exactly: x).map { .int($0) }
    case (.int(let x), .date): return .date(Timestamp(secondsSinceReferenceDate: x, nanoseconds: 0))
    case (.double(let x), .date): return .date(Timestamp(secondsSinceReferenceDate: x))
    case (.string(let text), .uuid): return UUID(uuidString: text).map { .uuid($0) }
    case (.string(let text), .objectId): return ObjectId(text).map { .objectId($0) }
    case (.string(let text), .decimal): return Decimal128(text).map { .decimal($0) }
    case (.int(let x), .decimal): return .decimal(Decimal128(x))
    case (.double(let x), .decimal): return .decimal(Decimal128(x))
    case (.string(let text), .data): return Data(base64Encoded: text).map { .data($0) }
    case (.string(let text), .date): return Value.date(text)
    default: return self
    }
  }

  /// A migration's conversion of a value when its property changes its type: as `converted(to:)`, and anything with a text form
  /// to text, numbers from text, Bools to numbers. nil if there is no conversion.
  package func migrated(to type: ValueType) -> Value? {
    if let made = converted(to: type), made.fits(type) { return made }
    guard let made = text(as: type), made.fits(type) else { return nil }
    return made
  }

  private func text(as type: ValueType) -> Value? {
    switch (self, type) {
    case (.bool, .string), (.int, .string), (.float, .string), (.double, .string), (.uuid, .string), (.objectId, .string),
      (.decimal, .string):
      .string(description)
    case (.string(let text), .int64), (.string(let text), .int32), (.string(let text), .int16), (.string(let text), .int8):
      Int64(text).map { .int($0) }
    case (.string(let text), .double): Double(text).map { .double($0) }
    case (.string(let text), .float): Float(text).map { .float($0) }
    case (.bool(let bool), .int64): .int(bool ? 1 : 0)
    default: nil
    }
  }

  private static func date(_ text: String) -> Value? {
    if let exact = Timestamp(text) { return .date(exact) }
    if let date = try? Date(text, strategy: .iso8601) { return .date(Timestamp(date)) }
    return (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))).map { .date(Timestamp($0)) }
  }
}
