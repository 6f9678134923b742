/// A sum of doubles without any rounding on the way: what was added can be taken away again, in whatever order, and nothing is
/// left of it. Rounded once, where it is read.
///
/// A number as wide as all doubles, in digits of 32 bits that take their carries later. 550 bytes; adding is a few operations.
package struct ExactSum: Sendable {
  /// From 2^-1074 on, the least bit that a double can have.
  private static let exponentMin = -1_074
  private static let digitCount = 68

  private var digits = [Int64](repeating: 0, count: digitCount)
  /// How much can be added before a digit may overflow.
  private var room = 1 << 30
  private var infinities = 0
  private var negativeInfinities = 0
  private var nans = 0

  package init() {}

  package mutating func add(_ value: Double) { change(value, by: 1) }
  package mutating func subtract(_ value: Double) { change(value, by: -1) }

  private mutating func change(_ value: Double, by count: Int) {
    guard value.isFinite else {
      if value.isNaN { nans += count } else if value > 0 { infinities += count } else { negativeInfinities += count }
      return
    }
    if value == 0 { return }
    if room == 0 { carry() }
    room -= 1
    let isSubnormal = value.exponentBitPattern == 0
    let mantissa = value.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
    // Bits from 2^-1074 up to the mantissa's last one.
    let position = isSubnormal ? 0 : Int(value.exponentBitPattern) - 1
    let (digit, shift) = (position >> 5, UInt64(position & 31))
    let low = (mantissa & 0xFFFF_FFFF) << shift
    let high = (mantissa >> 32) << shift
    let sign: Int64 = (value < 0) == (count < 0) ? 1 : -1
    digits[digit] += sign * Int64(low & 0xFFFF_FFFF)
    digits[digit + 1] += sign * Int64(low >> 32 + high & 0xFFFF_FFFF)
    digits[digit + 2] += sign * Int64(high >> 32)
  }

  /// Leaves all digits but the last between 0 and 2^32.
  private mutating func carry() {
    for i in 0..<ExactSum.digitCount - 1 {
      digits[i + 1] += digits[i] >> 32
      digits[i] &= 0xFFFF_FFFF
    }
    room = 1 << 30
  }

  /// The sum, rounded to the nearest double.
  package var value: Double {
    if nans > 0 || infinities > 0 && negativeInfinities > 0 { return .nan }
    if infinities > 0 { return .infinity }
    if negativeInfinities > 0 { return -.infinity }
    var sum = self
    sum.carry()
    let isNegative = sum.digits[ExactSum.digitCount - 1] < 0
    if isNegative {
      for i in sum.digits.indices { sum.digits[i].negate() }
      sum.carry()
    }
    let rounded = sum.magnitude
    return isNegative ? -rounded : rounded
  }

  /// Of digits that are carried, and none negative.
  private var magnitude: Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    let bits = top * 32 + 64 - digits[top].leadingZeroBitCount
    // The first 53 bits, one for rounding, and whether anything comes after it.
    let start = max(0, bits - 54)
    var found: UInt64 = 0
    for bit in start..<bits where self[bit] { found |= 1 << UInt64(bit - start) }
    if start > 0 {
      let hasMore = digits[0..<(start >> 5)].contains { $0 != 0 } || digits[start >> 5] & (1 << Int64(start & 31) - 1) != 0
      let isUp = found & 1 == 1 && (hasMore || found & 2 == 2)
      found = found >> 1 + (isUp ? 1 : 0)
    }
    return Double(sign: .plus, exponent: ExactSum.exponentMin + start + (start > 0 ? 1 : 0), significand: Double(found))
  }

  private subscript(bit: Int) -> Bool { digits[bit >> 5] >> Int64(bit & 31) & 1 == 1 }
}
