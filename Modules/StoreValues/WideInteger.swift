/// A natural number of any size, for the exact values of doubles: up to 1,100 bits, or 770 digits. Slow and simple; decimal
/// arithmetic does not use it.
struct WideInteger {
  /// Least significant first, without leading zeroes.
  private var limbs: [UInt32]

  init(_ value: UInt128) {
    limbs = []
    var rest = value
    while rest > 0 {
      limbs.append(UInt32(truncatingIfNeeded: rest))
      rest >>= 32
    }
  }

  /// A finite, non-negative double as an integer times a power of ten.
  static func exact(_ double: Double) -> (WideInteger, exponent: Int) {
    if double == 0 { return (WideInteger(0), 0) }
    let isSubnormal = double.exponentBitPattern == 0
    let mantissa = double.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
    let power = (isSubnormal ? 1 : Int(double.exponentBitPattern)) - 1_075
    // Without trailing zeroes, so that whole numbers stay short.
    let zeroes = mantissa.trailingZeroBitCount
    var value = WideInteger(UInt128(mantissa >> UInt64(zeroes)))
    let exponent = power + zeroes
    if exponent >= 0 {
      value.multiply(by: 2, times: exponent)
      return (value, 0)
    }
    // m · 2^−n = m · 5^n · 10^−n.
    value.multiply(by: 5, times: -exponent)
    return (value, exponent)
  }

  private mutating func multiply(by factor: UInt32, times: Int) {
    // The most factors that 32 bits hold at once: 2^31, 5^13, 10^9.
    let (step, count): (UInt32, Int) = factor == 2 ? (1 << 31, 31) : factor == 5 ? (1_220_703_125, 13) : (1_000_000_000, 9)
    var left = times
    while left >= count {
      multiply(by: step)
      left -= count
    }
    for _ in 0..<left { multiply(by: factor) }
  }

  private mutating func multiply(by factor: UInt32) {
    var carry: UInt64 = 0
    for i in limbs.indices {
      let product = UInt64(limbs[i]) * UInt64(factor) + carry
      limbs[i] = UInt32(truncatingIfNeeded: product)
      carry = product >> 32
    }
    if carry > 0 { limbs.append(UInt32(carry)) }
  }

  /// Divides and returns the remainder.
  private mutating func divide(by divisor: UInt32) -> UInt32 {
    var rest: UInt64 = 0
    for i in limbs.indices.reversed() {
      let part = rest << 32 | UInt64(limbs[i])
      limbs[i] = UInt32(part / UInt64(divisor))
      rest = part % UInt64(divisor)
    }
    while limbs.last == 0 { limbs.removeLast() }
    return UInt32(rest)
  }

  /// The leading digits as a number of at least 35 digits, if there are as many; how many digits follow; and whether one of
  /// those is not zero.
  var leadingDigits: (value: UInt128, dropped: Int, isInexact: Bool) {
    var rest = self
    var (dropped, isInexact) = (0, false)
    // Four limbs have at most 38.5 digits; one digit at a time from there on.
    while rest.limbs.count > 5 {
      if rest.divide(by: 1_000_000_000) != 0 { isInexact = true }
      dropped += 9
    }
    while rest.limbs.count > 4 {
      if rest.divide(by: 10) != 0 { isInexact = true }
      dropped += 1
    }
    return (rest.limbs.reversed().reduce(UInt128(0)) { $0 << 32 | UInt128($1) }, dropped, isInexact)
  }

  /// Compares `a` · 10^`x` with `b` · 10^`y`; neither is zero.
  static func order(_ a: WideInteger, _ x: Int, _ b: WideInteger, _ y: Int) -> Value.Order {
    let (digitsA, digitsB) = (a.magnitudeDigits + x, b.magnitudeDigits + y)
    // The estimates are at most one too large.
    if digitsA > digitsB + 1 { return .after }
    if digitsB > digitsA + 1 { return .before }
    var (a, b) = (a, b)
    if x > y { a.multiply(by: 10, times: x - y) } else { b.multiply(by: 10, times: y - x) }
    if a.limbs.count != b.limbs.count { return Value.Order(a.limbs.count, b.limbs.count) }
    for i in a.limbs.indices.reversed() where a.limbs[i] != b.limbs[i] { return Value.Order(a.limbs[i], b.limbs[i]) }
    return .same
  }

  /// The number of decimal digits, or one more.
  private var magnitudeDigits: Int {
    let bits = limbs.count * 32 - (limbs.last?.leadingZeroBitCount ?? 0)
    return bits * 30_103 / 100_000 + 1
  }
}
