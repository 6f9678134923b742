extension Decimal128: Equatable, Comparable {
  /// Compares by value, as in IEEE 754: `1.5 == 1.50`, `-0 == 0`, and NaN equals nothing.
  public static func == (a: Decimal128, b: Decimal128) -> Bool { !a.isNaN && a.order(to: b) == .same }

  /// Compares by value; false if one is NaN.
  public static func < (a: Decimal128, b: Decimal128) -> Bool {
    !a.isNaN && !b.isNaN && a.order(to: b) == .before
  }
}

extension Decimal128: Hashable {
  /// Equal numbers have equal hashes, whatever their digits.
  public func hash(into hasher: inout Hasher) {
    guard isFinite, !isZero else { return hasher.combine(isZero ? 0 : high) }
    var (coefficient, exponent) = (coefficient, exponent)
    while coefficient % 10 == 0 {
      coefficient /= 10
      exponent += 1
    }
    hasher.combine(isNegative)
    hasher.combine(coefficient)
    hasher.combine(exponent)
  }
}

extension Decimal128 {
  /// The total order of values in stores: NaN below every number and equal to itself, numbers by value.
  public func order(to other: Decimal128) -> Value.Order {
    if isNaN || other.isNaN { return Value.Order(isNaN ? 0 : 1, other.isNaN ? 0 : 1) }
    let (sign, otherSign) = (signum, other.signum)
    if sign != otherSign || sign == 0 { return Value.Order(sign, otherSign) }
    let order = magnitudeOrder(to: other)
    return sign < 0 ? order.reversed : order
  }

  /// Compares with a double exactly: neither is rounded.
  public func order(to double: Double) -> Value.Order {
    if isNaN || double.isNaN { return Value.Order(isNaN ? 0 : 1, double.isNaN ? 0 : 1) }
    let otherSign = double == 0 ? 0 : double < 0 ? -1 : 1
    if signum != otherSign || otherSign == 0 { return Value.Order(signum, otherSign) }
    let order: Value.Order
    if isInfinite || double.isInfinite {
      order = Value.Order(isInfinite ? 1 : 0, double.isInfinite ? 1 : 0)
    } else {
      let (value, power) = WideInteger.exact(double.magnitude)
      order = WideInteger.order(WideInteger(coefficient), exponent, value, power)
    }
    return otherSign < 0 ? order.reversed : order
  }

  private var signum: Int { isZero ? 0 : isNegative ? -1 : 1 }

  /// Requires that neither is NaN or zero.
  private func magnitudeOrder(to other: Decimal128) -> Value.Order {
    if isInfinite || other.isInfinite { return Value.Order(isInfinite ? 1 : 0, other.isInfinite ? 1 : 0) }
    // With 34 digits each, the exponents decide first, then the coefficients.
    let (a, b) = (widened, other.widened)
    return a.exponent == b.exponent ? Value.Order(a.coefficient, b.coefficient) : Value.Order(a.exponent, b.exponent)
  }
}
