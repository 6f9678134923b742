#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Decimal128 {
  /// The number that Foundation's is, to 34 digits (it has 38), ties to even; NaN for its NaN.
  public init(_ decimal: Decimal) {
    // Its text has every digit, and no locale.
    self = decimal.isNaN ? .nan : Decimal128(decimal.description) ?? .nan
  }
}

extension Decimal {
  /// The same number, exactly, and NaN for NaN; nil for infinities, and for powers of ten that Foundation's has not (below 10⁻¹²⁸ and above
  /// 10¹²⁷). Zeroes at the end are not kept: `1.50` is `1.5`.
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
