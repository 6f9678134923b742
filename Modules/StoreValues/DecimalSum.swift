/// An exact sum of decimals from which numbers can be subtracted again, rounded when it is read: its value depends only on the
/// numbers in it, not on the history.
///
/// Keeps an integer for each exponent that occurs; money has one or two.
package struct DecimalSum: Sendable {
  /// The numbers with one exponent: the sum of their coefficients is `high` · 10¹⁷ + `low`, with room for 2⁶⁰ of them.
  private struct Bucket: Sendable {
    var count = 0
    var high: Int128 = 0
    var low: Int128 = 0
  }

  private static let half = UInt128.powerOfTen(17)
  /// The digits of one half.
  private static let digits = 17
  private var buckets: [Int: Bucket] = [:]
  private var (nans, positive, negative) = (0, 0, 0)

  package init() {}

  package mutating func add(_ number: Decimal128) { change(number, by: 1) }

  /// Subtracts a number that was added.
  package mutating func subtract(_ number: Decimal128) { change(number, by: -1) }

  private mutating func change(_ number: Decimal128, by count: Int) {
    if number.isNaN { return nans += count }
    if number.isInfinite {
      if number.isNegative { negative += count } else { positive += count }
      return
    }
    var bucket = buckets[number.exponent] ?? Bucket()
    bucket.count += count
    // Both halves are below 10¹⁷.
    let (high, low) = number.coefficient.quotientAndRemainder(dividingBy: DecimalSum.half)
    let sign: Int128 = number.isNegative == (count > 0) ? -1 : 1
    bucket.high += sign * Int128(high)
    bucket.low += sign * Int128(low)
    buckets[number.exponent] = bucket.count == 0 ? nil : bucket
  }

  /// The number nearest to the sum, ties to even; 0 for an empty sum. O(n) for n exponents that are close to each other.
  package var value: Decimal128 {
    if nans > 0 || (positive > 0 && negative > 0) { return .nan }
    if positive > 0 { return .infinity }
    if negative > 0 { return -.infinity }
    guard let least = buckets.keys.min() else { return .zero }
    var (parts, isNegative) = carried(aligned(to: least))
    while parts.last == 0 { parts.removeLast() }
    // Three parts have at least 35 digits; a tie depends on whether anything below them is nonzero.
    let below = max(parts.count - 3, 0)
    let leading = parts[below...].reversed().reduce(WidePair(0)) { $0.appending(UInt128($1)) }
    if parts.isEmpty { isNegative = false }
    return Decimal128(
      isNegative: isNegative, leading, exponent: least + below * DecimalSum.digits, isInexact: parts[..<below].contains { $0 != 0 })
  }

  /// The buckets as one number in units of 10^`least`: its parts of 17 digits each, least first, without carries. No part
  /// overflows: at most 51 exponents contribute to one, each with less than 10³⁵.
  private func aligned(to least: Int) -> [Int128] {
    let unit = Int128(DecimalSum.half)
    var parts: [Int128] = []
    for (exponent, bucket) in buckets {
      let (first, inner) = (exponent - least).quotientAndRemainder(dividingBy: DecimalSum.digits)
      let (carry, low) = bucket.low.quotientAndRemainder(dividingBy: unit)
      let (top, middle) = (bucket.high + carry).quotientAndRemainder(dividingBy: unit)
      if parts.count < first + 3 { parts += Array(repeating: 0, count: first + 3 - parts.count) }
      for (place, part) in [low, middle, top].enumerated() { parts[first + place] += part * Int128(UInt128.powerOfTen(inner)) }
    }
    return parts
  }

  /// The magnitude with every part below 10¹⁷, and the sign.
  private func carried(_ parts: [Int128]) -> (parts: [Int128], isNegative: Bool) {
    let unit = Int128(DecimalSum.half)
    var (result, carry) = ([Int128](), Int128(0))
    for part in parts + [0, 0] {
      var (more, rest) = (part + carry).quotientAndRemainder(dividingBy: unit)
      if rest < 0 { (more, rest) = (more - 1, rest + unit) }
      result.append(rest)
      carry = more
    }
    // Two additional parts take any carry; a remaining carry is an endless borrow, so the number is negative.
    return carry < 0 ? (carried(parts.map { -$0 }).parts, true) : (result, false)
  }
}

extension WidePair {
  /// Multiplies by 10¹⁷ and adds a part. For numbers below 10⁵⁶.
  fileprivate func appending(_ part: UInt128) -> WidePair {
    let unit = UInt128.powerOfTen(17)
    let (carry, low) = self.low.multipliedFullWidth(by: unit)
    return WidePair(high: high * unit + carry, low: low) + WidePair(part)
  }
}
