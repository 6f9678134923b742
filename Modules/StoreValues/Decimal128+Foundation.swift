#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Decimal128 {
  /// Converts Foundation's decimal, rounding its up to 38 digits to 34, ties to even; NaN for NaN.
  public init(_ decimal: Decimal) {
    // Its text has every digit, and does not depend on a locale.
    self = decimal.isNaN ? .nan : Decimal128(decimal.description) ?? .nan
  }
}

extension Decimal {
  /// The same number, exactly, and NaN for NaN; nil for infinities, and for powers of ten outside Foundation's range (below
  /// 10⁻¹²⁸ and above 10¹²⁷). Drops trailing zeroes: `1.50` becomes `1.5`.
  public init?(exactly decimal: Decimal128) {
    if decimal.isNaN {
      self = .nan
      return
    }
    guard decimal.isFinite else { return nil }
    var (coefficient, exponent) = (decimal.coefficient, decimal.exponent)
    while exponent < 127, coefficient != 0, coefficient % 10 == 0 { (coefficient, exponent) = (coefficient / 10, exponent + 1) }
    while exponent > 127, coefficient.digitCount < 38 { (coefficient, exponent) = (coefficient * 10, exponent - 1) }
    if coefficient == 0 { exponent = 0 }
    guard (-128...127).contains(exponent) else { return nil }
    let (high, low) = coefficient.quotientAndRemainder(dividingBy: .powerOfTen(19))
    let scale = Decimal(sign: .plus, exponent: 19, significand: 1)
    let whole = Decimal(UInt64(high)) * scale + Decimal(UInt64(low))
    self = Decimal(sign: decimal.isNegative ? .minus : .plus, exponent: exponent, significand: whole)
  }
}
