extension Decimal128 {
  /// The exact sum, rounded once. Infinity plus its negation is NaN.
  public static func + (a: Decimal128, b: Decimal128) -> Decimal128 {
    if a.isNaN || b.isNaN { return .nan }
    if a.isInfinite { return b.isInfinite && a.isNegative != b.isNegative ? .nan : a }
    if b.isInfinite { return b }
    return a.exponent >= b.exponent ? sum(a, b) : sum(b, a)
  }

  /// The difference, rounded like a sum.
  public static func - (a: Decimal128, b: Decimal128) -> Decimal128 { a + -b }

  /// The exact product, rounded once. Zero times infinity is NaN.
  public static func * (a: Decimal128, b: Decimal128) -> Decimal128 {
    if a.isNaN || b.isNaN { return .nan }
    let isNegative = a.isNegative != b.isNegative
    if a.isInfinite || b.isInfinite {
      return a.isZero || b.isZero ? .nan : isNegative ? -.infinity : .infinity
    }
    let (high, low) = a.coefficient.multipliedFullWidth(by: b.coefficient)
    return Decimal128(isNegative: isNegative, WidePair(high: high, low: low), exponent: a.exponent + b.exponent)
  }

  /// The exact quotient, rounded once. A nonzero number divided by zero is infinite, zero divided by zero is NaN.
  public static func / (a: Decimal128, b: Decimal128) -> Decimal128 {
    if a.isNaN || b.isNaN { return .nan }
    let isNegative = a.isNegative != b.isNegative
    if a.isInfinite { return b.isInfinite ? .nan : isNegative ? -.infinity : .infinity }
    if b.isInfinite {
      return Decimal128(isNegative: isNegative, coefficient: 0, exponent: exponents.lowerBound)
    }
    if b.isZero { return a.isZero ? .nan : isNegative ? -.infinity : .infinity }
    let wanted = a.exponent - b.exponent
    if a.isZero { return Decimal128(isNegative: isNegative, coefficient: 0, exponent: wanted) }
    let (x, y) = (a.widened, b.widened)
    // Both have 34 digits, so the quotient of x · 10³⁵ has 35 or 36, which fit 128 bits.
    let numerator = x.coefficient.multipliedFullWidth(by: .powerOfTen(35))
    var (quotient, remainder) = y.coefficient.dividingFullWidth(numerator)
    var exponent = x.exponent - y.exponent - 35
    if remainder == 0 {
      while exponent < wanted, quotient % 10 == 0 {
        quotient /= 10
        exponent += 1
      }
    }
    return Decimal128(isNegative: isNegative, WidePair(quotient), exponent: exponent, isInexact: remainder != 0)
  }

  /// As `+`.
  public static func += (a: inout Decimal128, b: Decimal128) { a = a + b }
  /// As `-`.
  public static func -= (a: inout Decimal128, b: Decimal128) { a = a - b }
  /// As `*`.
  public static func *= (a: inout Decimal128, b: Decimal128) { a = a * b }
  /// As `/`.
  public static func /= (a: inout Decimal128, b: Decimal128) { a = a / b }

  /// The coefficient extended by trailing zeroes to 34 digits. Not for zero.
  var widened: (coefficient: UInt128, exponent: Int) {
    let zeroes = Decimal128.digitsMax - coefficient.digitCount
    return (coefficient * .powerOfTen(zeroes), exponent - zeroes)
  }

  /// Requires that `a` has the greater exponent, or the same.
  private static func sum(_ a: Decimal128, _ b: Decimal128) -> Decimal128 {
    let gap = a.exponent - b.exponent
    if a.isZero {
      let isNegative = b.isZero ? a.isNegative && b.isNegative : b.isNegative
      return Decimal128(isNegative: isNegative, coefficient: b.coefficient, exponent: b.exponent)
    }
    if gap <= 36 {
      let (high, low) = a.coefficient.multipliedFullWidth(by: .powerOfTen(gap))
      return sum(a, WidePair(high: high, low: low), b, WidePair(b.coefficient), exponent: b.exponent)
    }
    if b.isZero {
      // The exponent is as close to the smaller one as 34 digits allow.
      let (coefficient, exponent) = a.widened
      return Decimal128(isNegative: a.isNegative, coefficient: coefficient, exponent: exponent)
    }
    let (coefficient, exponent) = a.widened
    let rest = exponent - b.exponent
    if rest <= 36 {
      let (high, low) = coefficient.multipliedFullWidth(by: .powerOfTen(max(rest, 0)))
      return sum(a, WidePair(high: high, low: low), b, WidePair(b.coefficient), exponent: b.exponent)
    }
    // `b` is less than a thousandth of the last digit: it only matters that it is not zero.
    let (high, low) = coefficient.multipliedFullWidth(by: 1_000)
    return sum(a, WidePair(high: high, low: low), b, WidePair(1), exponent: exponent - 3)
  }

  private static func sum(
    _ a: Decimal128, _ x: WidePair, _ b: Decimal128, _ y: WidePair, exponent: Int
  ) -> Decimal128 {
    if a.isNegative == b.isNegative { return Decimal128(isNegative: a.isNegative, x + y, exponent: exponent) }
    if x == y { return Decimal128(isNegative: false, coefficient: 0, exponent: exponent) }
    return y < x
      ? Decimal128(isNegative: a.isNegative, x - y, exponent: exponent)
      : Decimal128(isNegative: b.isNegative, y - x, exponent: exponent)
  }
}

extension Decimal128 {
  /// The number nearest to `value` · 10^`exponent`, ties to even; `isInexact` if the true value is farther from zero by less
  /// than one unit.
  init(isNegative: Bool, _ value: WidePair, exponent: Int, isInexact: Bool = false) {
    var digits = value.digitCount
    // Excess digits: beyond the 34th, and below the least exponent.
    let lowest = Decimal128.exponents.lowerBound
    let tooMany = max(digits - Decimal128.digitsMax, exponent < lowest ? lowest - exponent : 0)
    var (coefficient, exponent) = (value.low, exponent)
    if tooMany > 0 || isInexact {
      let dropped = min(tooMany, digits + 1)
      coefficient = value.rounded(dropping: dropped, isInexact: isInexact)
      exponent += max(tooMany, 0)
      if coefficient > Decimal128.coefficientMax {
        coefficient /= 10
        exponent += 1
      }
    }
    digits = coefficient.digitCount
    let highest = Decimal128.exponents.upperBound
    if coefficient != 0, exponent > highest {
      guard exponent - highest <= Decimal128.digitsMax - digits else {
        self = isNegative ? -.infinity : .infinity
        return
      }
      coefficient *= .powerOfTen(exponent - highest)
      exponent = highest
    }
    self.init(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
  }
}
