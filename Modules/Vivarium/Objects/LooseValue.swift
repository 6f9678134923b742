import Foundation
import Storage
import Values

// What comes from dictionaries, JSON and key-value coding is `Any?`; here it becomes a value of a property or is refused.

extension StoreError {
  static func typeMismatch(_ given: Any?, _ property: PropertySchema) -> StoreError {
    StoreError(
      .typeMismatch, "'\(property.name)' is \(property.kind.label), and was given \(given.map { "\($0)" } ?? "nil").",
      details: ["property": property.name])
  }
}

extension Value {
  /// `nil`, `NSNull` and `Value.null`, also inside of optionals.
  static func isNull(_ given: Any?) -> Bool {
    guard let given = unwrapped(given) else { return true }
    if let value = given as? Value { return value.isNull }
    return given is NSNull
  }

  /// What an `Any` holds below any number of optionals.
  static func unwrapped(_ given: Any?) -> Any? {
    // Not `given` itself is asked: every `Any?` is an optional.
    guard let value = given else { return nil }
    guard let optional = value as? any AnyOptional else { return value }
    return unwrapped(optional.wrappedAny)
  }

  /// A loose value as one of a property. `.missingValue` for a null where there can be none, `.typeMismatch`.
  init(_ given: Any?, for property: PropertySchema, of type: String) throws(StoreError) {
    guard let wanted = property.valueType else { throw .typeMismatch(given, property) }
    if Value.isNull(given) {
      guard property.isOptional else { throw .missingValue(type: type, property: property.name) }
      self = .null
      return
    }
    guard let value = Value.converted(given, to: wanted), value.fits(wanted) else { throw .typeMismatch(given, property) }
    self = value
  }

  /// Numbers become the property's kind of number where nothing is lost; text becomes a UUID, a date (ISO 8601) or data
  /// (base64); a number becomes a date as `JSONEncoder` writes it, in seconds since the reference date.
  static func converted(_ given: Any?, to type: ValueType) -> Value? {
    guard let given = unwrapped(given) else { return .null }
    if type == .mixed {
      if let array = given as? [Any?] { return mixed(array) }
      if let dictionary = given as? [String: Any?] { return mixed(dictionary) }
    }
    let value: Value
    switch given {
    case let boxed as Value: value = boxed
    case let scalar as any Scalar: value = scalar.persistedValue
    case let integer as any BinaryInteger:
      guard let exact = Int64(exactly: integer) else { return nil }
      value = .int(exact)
    case let number as NSNumber: value = Value(number, as: type)
    case let data as NSData: value = .data(Data(referencing: data))
    case let text as NSString: value = .string(String(describing: text))
    default: return nil
    }
    return value.converted(to: type)
  }

  private static func mixed(_ array: [Any?]) -> Value? {
    let elements = array.compactMap { converted($0, to: .mixed) }
    return elements.count == array.count ? .list(elements) : nil
  }

  private static func mixed(_ dictionary: [String: Any?]) -> Value? {
    let entries = dictionary.compactMap { key, value in converted(value, to: .mixed).map { ValueMap.Entry(key, $0) } }
    return entries.count == dictionary.count ? .map(ValueMap(entries)) : nil
  }

  private func converted(to type: ValueType) -> Value? {
    switch (self, type) {
    case (.int(let x), .double): return Double(exactly: x).map { .double($0) }
    case (.int(let x), .float): return Float(exactly: x).map { .float($0) }
    case (.float(let x), .double): return .double(Double(x))
    case (.double(let x), .float): return .float(Float(x))
    case (.double(let x), .int8), (.double(let x), .int16), (.double(let x), .int32), (.double(let x), .int64):
      return Int64(exactly: x).map { .int($0) }
    case (.int(let x), .date): return Double(exactly: x).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case (.double(let x), .date): return .date(Date(timeIntervalSinceReferenceDate: x))
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

  private static func date(_ text: String) -> Value? {
    if let date = try? Date(text, strategy: .iso8601) { return .date(date) }
    return (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))).map { .date($0) }
  }

  /// Foundation's booleans are numbers of one byte.
  private init(_ number: NSNumber, as type: ValueType) {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c") where type == .bool, UInt8(ascii: "B"): self = .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .double(number.doubleValue)
    default: self = .int(number.int64Value)
    }
  }
}

/// Lets code that has an `Any` look into an optional.
protocol AnyOptional {
  var wrappedAny: Any? { get }
}

extension Optional: AnyOptional {
  var wrappedAny: Any? { self }
}
