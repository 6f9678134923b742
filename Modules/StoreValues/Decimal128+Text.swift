extension Decimal128: LosslessStringConvertible {
  /// Parses `-12.50`, `1E+3`, `.5`, `Infinity`, `inf` or `NaN`; nil for any other text. More than 34 digits are rounded to
  /// nearest, ties to even; too large numbers become infinite.
  public init?(_ text: String) {
    var rest = Substring(text).utf8
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    switch Substring(rest).lowercased() {
    case "nan": self = .nan
    case "inf", "infinity": self = isNegative ? -.infinity : .infinity
    default:
      guard let number = Decimal128(isNegative: isNegative, digits: rest) else { return nil }
      self = number
    }
  }

  private init?(isNegative: Bool, digits text: Substring.UTF8View) {
    var coefficient: UInt128 = 0
    var exponent = 0
    var isInexact = false
    var (hasDigit, hasPoint) = (false, false)
    var position = text.startIndex
    scan: while position < text.endIndex {
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        hasDigit = true
        if coefficient <= Decimal128.coefficientMax {
          coefficient = coefficient * 10 + UInt128(byte - UInt8(ascii: "0"))
          if hasPoint { exponent -= 1 }
        } else {
          if byte != UInt8(ascii: "0") { isInexact = true }
          if !hasPoint { exponent += 1 }
        }
      case UInt8(ascii: ".") where !hasPoint: hasPoint = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"): break scan
      default: return nil
      }
      position = text.index(after: position)
    }
    guard hasDigit else { return nil }
    if position < text.endIndex {
      guard let power = Decimal128.exponent(text[text.index(after: position)...]) else { return nil }
      exponent += power
    }
    self.init(isNegative: isNegative, WidePair(coefficient), exponent: exponent, isInexact: isInexact)
  }

  /// `+12`, `-3`, `4`; values far out of range are clamped to just out of range.
  private static func exponent(_ text: Substring.UTF8View) -> Int? {
    var rest = text
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    if rest.isEmpty { return nil }
    var value = 0
    for byte in rest {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      value = min(value * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
    }
    return isNegative ? -value : value
  }

  /// All digits, so that parsing gives the same number: `1.50`, `1E+3`, `-0E-7`, `Infinity`, `NaN`. Without an exponent if it
  /// is not positive and at most six zeroes follow the point.
  public var description: String {
    if isNaN { return "NaN" }
    let sign = isNegative ? "-" : ""
    if isInfinite { return sign + "Infinity" }
    let digits = String(coefficient)
    let adjusted = exponent + digits.utf8.count - 1
    if exponent <= 0, adjusted >= -6 {
      if exponent == 0 { return sign + digits }
      let whole = digits.utf8.count + exponent
      if whole <= 0 { return sign + "0." + String(repeating: "0", count: -whole) + digits }
      return sign + digits.prefix(whole) + "." + digits.dropFirst(whole)
    }
    let point = digits.utf8.count > 1 ? digits.prefix(1) + "." + digits.dropFirst(1) : digits[...]
    return sign + point + "E" + (adjusted < 0 ? "\(adjusted)" : "+\(adjusted)")
  }
}

extension Decimal128: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) { self.init(value) }
}

extension Decimal128: ExpressibleByFloatLiteral {
  /// The number as written, up to 15 digits: `9.99` is 9.99, not the nearest double. Write longer ones as text,
  /// `Decimal128("…")`.
  public init(floatLiteral value: Double) { self.init(shortest: value) }
}
