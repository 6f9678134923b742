/// A decimal floating-point number of 34 digits: decimal128 of IEEE 754-2008, in its binary integer encoding.
///
/// Sums of money are exact: `Decimal128("0.1")! + Decimal128("0.2")! == Decimal128("0.3")!`. A number is a sign, an integer
/// coefficient of up to 34 digits and a power of ten; `1.5` and `1.50` are equal but keep their digits, through arithmetic,
/// printing and storage. Results with more digits are rounded to nearest, ties to even. There are infinities, a negative zero
/// and one NaN: payloads, signs of NaN and signalling NaNs are not preserved.
///
/// `==` and `<` are IEEE's (NaN equals nothing). `order(to:)` is the total order of stores: NaN below all numbers and equal to
/// itself.
public struct Decimal128: Sendable {
  /// The upper 64 bits: sign, exponent, and 49 bits of the coefficient.
  public let high: UInt64
  /// The lower 64 bits of the coefficient.
  public let low: UInt64

  static let digitsMax = 34
  static let bias = 6_176
  /// The exponents of ten.
  static let exponents = -6_176...6_111
  static let coefficientMax = UInt128.powerOfTen(34) - 1

  /// From the bits of the encoding. Non-canonical encodings are normalised: every NaN becomes the one NaN, a coefficient that
  /// is too large zero.
  public init(high: UInt64, low: UInt64) {
    let isNegative = high >> 63 == 1
    switch high >> 58 & 0x1F {
    case 0x1F: self = .nan
    case 0x1E: self = isNegative ? -.infinity : .infinity
    case let top where top >> 3 == 3:
      self.init(isNegative: isNegative, coefficient: 0, exponent: Int(high >> 47 & 0x3FFF) - Decimal128.bias)
    default:
      let coefficient = UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low)
      self.init(
        isNegative: isNegative, coefficient: coefficient > Decimal128.coefficientMax ? 0 : coefficient,
        exponent: Int(high >> 49 & 0x3FFF) - Decimal128.bias)
    }
  }

  private init(bits high: UInt64) {
    self.high = high
    low = 0
  }

  /// From parts within their limits; an exponent out of range is clamped, which only happens for zeroes.
  init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
    let exponent = min(max(exponent, Decimal128.exponents.lowerBound), Decimal128.exponents.upperBound)
    let sign: UInt64 = isNegative ? 1 << 63 : 0
    high = sign | UInt64(exponent + Decimal128.bias) << 49 | UInt64(truncatingIfNeeded: coefficient >> 64)
    low = UInt64(truncatingIfNeeded: coefficient)
  }

  /// Not a number: equal to nothing, including itself.
  public static let nan = Decimal128(bits: 0x7C00_0000_0000_0000)
  /// Above every number; its negation is below.
  public static let infinity = Decimal128(bits: 0x7800_0000_0000_0000)
  /// 0, without a sign.
  public static let zero = Decimal128(isNegative: false, coefficient: 0, exponent: 0)
  /// 9.999…E+6144, of 34 nines.
  public static let greatestFiniteMagnitude = Decimal128(
    isNegative: false, coefficient: coefficientMax, exponent: exponents.upperBound)
  /// 1E-6176.
  public static let leastNonzeroMagnitude = Decimal128(
    isNegative: false, coefficient: 1, exponent: exponents.lowerBound)
}

extension Decimal128 {
  /// Whether it is NaN.
  public var isNaN: Bool { high >> 58 & 0x1F == 0x1F }
  /// Whether it is infinite, of either sign.
  public var isInfinite: Bool { high >> 58 & 0x1F == 0x1E }
  /// Whether it is neither infinite nor NaN.
  public var isFinite: Bool { high >> 59 & 0xF != 0xF }
  /// Whether it is 0, of either sign and with any exponent.
  public var isZero: Bool { isFinite && coefficient == 0 }
  /// The sign bit, also of zeroes; false for NaN.
  public var isNegative: Bool { high >> 63 == 1 }
  /// The absolute value.
  public var magnitude: Decimal128 { isNegative ? -self : self }

  /// The integer coefficient; meaningless for NaN and infinities.
  var coefficient: UInt128 { UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low) }
  /// The exponent of ten; meaningless for NaN and infinities.
  var exponent: Int { Int(high >> 49 & 0x3FFF) - Decimal128.bias }

  /// Whether sign, coefficient and exponent are the same: false for `1.5` and `1.50`, true for NaN and NaN.
  public func isIdentical(to other: Decimal128) -> Bool { high == other.high && low == other.low }

  /// The negation; NaN stays NaN.
  public static prefix func - (x: Decimal128) -> Decimal128 {
    x.isNaN ? x : Decimal128(flippingSignOf: x)
  }

  private init(flippingSignOf x: Decimal128) {
    high = x.high ^ 1 << 63
    low = x.low
  }
}

extension Decimal128: Codable {
  /// Decodes its text, or a plain number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let integer = try? container.decode(Int64.self) {
      self.init(integer)
      return
    }
    if let double = try? container.decode(Double.self), let short = Decimal128(double.description) {
      self = short
      return
    }
    guard let number = Decimal128(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is no decimal number.")
    }
    self = number
  }

  /// Encodes its text, which keeps every digit.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
