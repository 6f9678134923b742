/// An exact sum of doubles: added values can be subtracted again in any order without residue. Rounded once, when it is read.
///
/// A number wide enough for all doubles, in 32-bit digits with deferred carries. 550 bytes; adding is a few operations.
package struct ExactSum: Sendable {
  /// The exponent of the least bit that a double can have.
  private static let exponentMin = -1_074
  private static let digitCount = 68

  private var digits = [Int64](repeating: 0, count: digitCount)
  /// How many more values can be added before a digit may overflow.
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
    // The distance in bits from 2^-1074 to the mantissa's last bit.
    let position = isSubnormal ? 0 : Int(value.exponentBitPattern) - 1
    let (digit, shift) = (position >> 5, UInt64(position & 31))
    let low = (mantissa & 0xFFFF_FFFF) << shift
    let high = (mantissa >> 32) << shift
    let sign: Int64 = (value < 0) == (count < 0) ? 1 : -1
    digits[digit] += sign * Int64(low & 0xFFFF_FFFF)
    digits[digit + 1] += sign * Int64(low >> 32 + high & 0xFFFF_FFFF)
    digits[digit + 2] += sign * Int64(high >> 32)
  }

  /// Normalises all digits but the last to between 0 and 2^32.
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

  /// Requires carried, non-negative digits.
  private var magnitude: Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    let bits = top * 32 + 64 - digits[top].leadingZeroBitCount
    // The first 53 bits, one for rounding, and whether any bit follows.
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
