import Foundation
import StorageInterface
import StoreValues

// Conversion of untyped (`Any?`) values from dictionaries, JSON and key-value coding to values of a property, or their rejection.

extension StoreError {
  static func typeMismatch(_ given: Any?, _ property: PropertySchema) -> StoreError {
    StoreError(
      .typeMismatch, "'\(property.name)' is \(property.kind.label), and was given \(Value.shown(given)).",
      details: ["property": property.name])
  }
}

extension Value {
  /// Whether the value is `nil`, `NSNull` or `Value.null`, also inside optionals.
  static func isNull(_ given: Any?) -> Bool {
    guard let given = unwrapped(given) else { return true }
    if let value = given as? Value { return value.isNull }
    return given is NSNull
  }

  /// The value of an `Any` inside any number of optionals.
  static func unwrapped(_ given: Any?) -> Any? {
    // Tests the unwrapped value, because every `Any?` is itself an optional.
    guard let value = given else { return nil }
    guard let optional = value as? any AnyOptional else { return value }
    return unwrapped(optional.wrappedAny)
  }

  /// Whether dictionaries and arrays are nested deeper than `depthMax`. Uses a worklist instead of recursion.
  static func nests(_ given: Any?, deeperThan depthMax: Int) -> Bool {
    var work: [(value: Any?, depth: Int)] = [(given, 0)]
    while let (value, depth) = work.popLast() {
      if depth > depthMax { return true }
      switch unwrapped(value) {
      case let dictionary as [String: Any?]: for value in dictionary.values { work.append((value, depth + 1)) }
      case let array as [Any?]: for value in array { work.append((value, depth + 1)) }
      case let boxed as Value:
        if case .list(let values) = boxed { for value in values { work.append((value, depth + 1)) } }
        if case .map(let map) = boxed { for entry in map.entries { work.append((entry.value, depth + 1)) } }
      default: break
      }
    }
    return false
  }

  /// An untyped value as text for a message: truncated, because it may have any length; a placeholder if it is nested deeply,
  /// because printing it could overflow the stack.
  static func shown(_ given: Any?) -> String {
    guard let given = unwrapped(given) else { return "nil" }
    if nests(given, deeperThan: 8) { return "something that nests deep" }
    let text = "\(given)"
    return text.utf8.count > 200 ? "\(text.prefix(100))…" : text
  }

  /// Converts an untyped value to a property's type. `.missingValue` for a null that the property does not allow, `.typeMismatch`.
  init(_ given: Any?, for property: PropertySchema, of type: String) throws(StoreError) {
    guard let wanted = property.valueType else { throw .typeMismatch(given, property) }
    if Value.isNull(given) {
      guard property.isOptional else { throw .missingValue(type: type, property: property.name) }
      self = .null
      return
    }
    if wanted == .mixed, let object = Value.unwrapped(given) as? any Model {
      self = try AnyValue(object).value
      return
    }
    guard let value = Value.converted(given, to: wanted), value.fits(wanted) else { throw .typeMismatch(given, property) }
    self = value
  }

  /// Converts numbers to the property's numeric type if nothing is lost, to a decimal as they are written; text to a UUID, a date
  /// (ISO 8601) or data (base64); a number to a date as `JSONEncoder` writes it, in seconds since the reference date.
  static func converted(_ given: Any?, to type: ValueType, depth: Int = 0) -> Value? {
    guard let given = unwrapped(given), !(given is NSNull) else { return .null }
    if type == .mixed {
      if depth > MixedCoding.depthMax { return nil }
      if let array = given as? [Any?] { return mixed(array, depth) }
      if let dictionary = given as? [String: Any?] { return mixed(dictionary, depth) }
    }
    let value: Value
    switch given {
    case let boxed as Value: value = boxed
    case let scalar as any Scalar: value = scalar.persistedValue
    case let number as NSDecimalNumber where type == .decimal: value = .decimal(Decimal128(number.decimalValue))
    case let number as Decimal where type == .decimal: value = .decimal(Decimal128(number))
    case let number as Decimal: value = .double(NSDecimalNumber(decimal: number).doubleValue)
    case let integer as any BinaryInteger:
      guard let exact = Int64(exactly: integer) else { return nil }
      value = .int(exact)
    case let number as NSNumber:
      guard let exact = Value(number, as: type) else { return nil }
      value = exact
    case let data as NSData: value = .data(Data(referencing: data))
    case let text as NSString: value = .string(String(describing: text))
    default: return nil
    }
    // Money: whoever wrote 9.99, in a dictionary or in JSON, meant that number, and not the double beside it. As with literals.
    if type == .decimal, case .double(let number) = value { return .decimal(Decimal128(floatLiteral: number)) }
    return value.converted(to: type)
  }

  private static func mixed(_ array: [Any?], _ depth: Int) -> Value? {
    let elements = array.compactMap { converted($0, to: .mixed, depth: depth + 1) }
    return elements.count == array.count ? .list(elements) : nil
  }

  private static func mixed(_ dictionary: [String: Any?], _ depth: Int) -> Value? {
    let entries = dictionary.compactMap { key, value in
      converted(value, to: .mixed, depth: depth + 1).map { ValueMap.Entry(key, $0) }
    }
    return entries.count == dictionary.count ? .map(ValueMap(entries)) : nil
  }

  /// Foundation's booleans are one-byte numbers. For a Bool, 0 and 1 are also accepted, as in Realm. nil for an integer that needs more
  /// than 64 bits with a sign, which `int64Value` would make another one.
  private init?(_ number: NSNumber, as type: ValueType) {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c") where type == .bool, UInt8(ascii: "B"): self = .bool(number.boolValue)
    case _ where type == .bool && (number == 0 || number == 1): self = .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .double(number.doubleValue)
    case UInt8(ascii: "Q"), UInt8(ascii: "L"):
      guard let exact = Int64(exactly: number.uint64Value) else { return nil }
      self = .int(exact)
    default: self = .int(number.int64Value)
    }
  }
}

/// Gives code that has an `Any` access to the value in an optional.
protocol AnyOptional {
  var wrappedAny: Any? { get }
}

extension Optional: AnyOptional {
  var wrappedAny: Any? { self }
}
