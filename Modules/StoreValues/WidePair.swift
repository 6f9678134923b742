/// A 256-bit number: large enough for a product or an aligned sum of two coefficients.
struct WidePair: Equatable {
  var high: UInt128
  var low: UInt128

  init(high: UInt128, low: UInt128) {
    self.high = high
    self.low = low
  }

  init(_ low: UInt128) { self.init(high: 0, low: low) }

  static func < (a: WidePair, b: WidePair) -> Bool { (a.high, a.low) < (b.high, b.low) }

  /// For numbers below 10^73, so that nothing overflows.
  static func + (a: WidePair, b: WidePair) -> WidePair {
    let (low, carry) = a.low.addingReportingOverflow(b.low)
    return WidePair(high: a.high &+ b.high &+ (carry ? 1 : 0), low: low)
  }

  /// Requires `b` <= `a`.
  static func - (a: WidePair, b: WidePair) -> WidePair {
    let (low, borrow) = a.low.subtractingReportingOverflow(b.low)
    return WidePair(high: a.high &- b.high &- (borrow ? 1 : 0), low: low)
  }

  /// The number of decimal digits; 1 for zero.
  var digitCount: Int {
    if high == 0 { return low.digitCount }
    // At least 2^128, which has 39 digits; below 10^73 by the operations above.
    var count = 39
    while count < 76 {
      let (high, low) = UInt128.powerOfTen(38).multipliedFullWidth(by: .powerOfTen(count - 38))
      if self < WidePair(high: high, low: low) { return count }
      count += 1
    }
    return count
  }

  /// The number without its last `count` digits, rounded to nearest, ties to even. The result fits 128 bits: at most 38 digits
  /// remain.
  func rounded(dropping count: Int, isInexact: Bool) -> UInt128 {
    if count == 0 { return low }  // without a dropped digit there is no half that inexactness could decide
    if count > 76 { return 0 }
    let quotient: UInt128
    let remainder: UInt128
    var isSticky = isInexact
    if count <= 38 {
      let power = UInt128.powerOfTen(count)
      // The quotient has at most 34 digits of a number of at most 72, or the power is larger.
      guard high < power else { return 0 }
      (quotient, remainder) = power.dividingFullWidth((high, low))
      return WidePair.round(quotient, remainder, power, isSticky)
    }
    // In two steps: the first leaves a number of 38 digits and whether anything was lost.
    let first = UInt128.powerOfTen(38)
    guard high < first else { return 0 }
    let (part, lost) = first.dividingFullWidth((high, low))
    if lost != 0 { isSticky = true }
    let power = UInt128.powerOfTen(count - 38)
    return WidePair.round(part / power, part % power, power, isSticky)
  }

  private static func round(
    _ quotient: UInt128, _ remainder: UInt128, _ power: UInt128, _ isSticky: Bool
  ) -> UInt128 {
    let half = power / 2
    if remainder > half || (remainder == half && (isSticky || quotient % 2 == 1)) { return quotient + 1 }
    return quotient
  }
}

extension UInt128 {
  private static let powersOfTen: [UInt128] = {
    var powers: [UInt128] = [1]
    while powers.count < 39 { powers.append(powers[powers.count - 1] * 10) }
    return powers
  }()

  /// 10 to the power of 0 to 38.
  static func powerOfTen(_ exponent: Int) -> UInt128 { powersOfTen[exponent] }

  /// The number of decimal digits; 1 for zero.
  var digitCount: Int {
    var (low, high) = (1, 39)
    while low < high {
      let middle = (low + high) / 2
      if self < UInt128.powersOfTen[middle] { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
