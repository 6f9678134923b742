extension Decimal128 {
  /// Exact: every 64-bit integer fits.
  public init(_ integer: Int64) {
    self.init(isNegative: integer < 0, coefficient: UInt128(integer.magnitude), exponent: 0)
  }

  /// Exact.
  public init(_ integer: Int) { self.init(Int64(integer)) }

  /// The number nearest to the exact value of a double, ties to even: for a variable with 0.1 that is
  /// 0.1000000000000000055511151231257827. A literal means what is written: `Decimal128(0.1)` is a tenth.
  public init(_ double: Double) {
    if double.isNaN {
      self = .nan
    } else if double.isInfinite {
      self = double < 0 ? -.infinity : .infinity
    } else {
      let (value, exponent) = WideInteger.exact(double.magnitude)
      let (coefficient, dropped, isInexact) = value.leadingDigits
      self.init(
        isNegative: double.sign == .minus, WidePair(coefficient), exponent: exponent + dropped, isInexact: isInexact)
    }
  }

  /// The number nearest to the exact value of a float, ties to even.
  public init(_ float: Float) { self.init(Double(float)) }

  /// The shortest decimal that identifies the double.
  package init(shortest double: Double) { self = Decimal128(double.description) ?? Decimal128(double) }
  /// The shortest decimal that identifies the float.
  package init(shortest float: Float) { self = Decimal128(float.description) ?? Decimal128(Double(float)) }
}

extension Double {
  /// The double nearest to a decimal; infinite if the decimal is too large.
  public init(_ decimal: Decimal128) {
    // `Double` reads the text, rounding to nearest.
    self = Double(decimal.description) ?? .nan
  }
}

extension Int64 {
  /// The integer equal to a decimal; nil if it has a fraction or does not fit.
  public init?(exactly decimal: Decimal128) {
    guard let floor = decimal.floor, floor.isExact else { return nil }
    self = floor.integer
  }
}

extension Decimal128 {
  /// The greatest integer that is not above the number, and whether they are equal; nil if no 64-bit integer is.
  package var floor: (integer: Int64, isExact: Bool)? {
    guard isFinite else { return nil }
    var (value, isExact) = (coefficient, true)
    if exponent < 0 {
      let power = exponent < -38 ? UInt128.max : UInt128.powerOfTen(-exponent)
      isExact = value % power == 0
      value /= power
    } else if exponent > 0, value != 0 {
      guard exponent < 19, value.digitCount + exponent < 20 else { return nil }
      value *= .powerOfTen(exponent)
    }
    if isNegative {
      if !isExact { value += 1 }
      guard value <= UInt128(Int64.max) + 1 else { return nil }
      return (Int64(truncatingIfNeeded: 0 &- Int128(value)), isExact)
    }
    return Int64(exactly: value).map { ($0, isExact) }
  }

  /// The greatest double that is not above the number, and whether they are equal. NaN for NaN.
  package var floorDouble: (double: Double, isExact: Bool) {
    if isNaN { return (.nan, true) }
    let nearest = Double(self)
    switch order(to: nearest) {
    case .same: return (nearest, true)
    case .after: return (nearest, false)
    case .before: return (nearest.nextDown, false)
    }
  }
}
