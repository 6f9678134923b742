/// A sum of decimals that loses nothing while numbers come and go, and is rounded when it is read: what it is depends on which numbers are
/// in
/// it, and not on how they got there.
///
/// Integers are kept for each power of ten that occurs, of which money has one or two.
package struct DecimalSum: Sendable {
  /// The numbers with one exponent: the sum of their coefficients is `high` · 10¹⁷ + `low`, so that 2⁶⁰ of them fit.
  private struct Bucket: Sendable {
    var count = 0
    var high: Int128 = 0
    var low: Int128 = 0
  }

  private static let half = UInt128.powerOfTen(17)
  private var buckets: [Int: Bucket] = [:]
  private var (nans, positive, negative) = (0, 0, 0)

  package init() {}

  package mutating func add(_ number: Decimal128) { change(number, by: 1) }

  /// Takes a number out that was added.
  package mutating func subtract(_ number: Decimal128) { change(number, by: -1) }

  private mutating func change(_ number: Decimal128, by count: Int) {
    if number.isNaN { return nans += count }
    if number.isInfinite {
      if number.isNegative { negative += count } else { positive += count }
      return
    }
    var bucket = buckets[number.exponent] ?? Bucket()
    bucket.count += count
    // Below 10¹⁷ each.
    let (high, low) = number.coefficient.quotientAndRemainder(dividingBy: DecimalSum.half)
    let sign: Int128 = number.isNegative == (count > 0) ? -1 : 1
    bucket.high += sign * Int128(high)
    bucket.low += sign * Int128(low)
    buckets[number.exponent] = bucket.count == 0 ? nil : bucket
  }

  /// The sum to 34 digits; 0 of nothing.
  package var value: Decimal128 {
    if nans > 0 || (positive > 0 && negative > 0) { return .nan }
    if positive > 0 { return .infinity }
    if negative > 0 { return -.infinity }
    var sum = Decimal128.zero
    var isFirst = true
    for (exponent, bucket) in buckets.sorted(by: { $0.key < $1.key }) {
      let part = Decimal128(bucket.high, exponent: exponent + 17) + Decimal128(bucket.low, exponent: exponent)
      sum = isFirst ? part : sum + part
      isFirst = false
    }
    return sum
  }
}

extension Decimal128 {
  /// The number nearest to an integer times a power of ten.
  fileprivate init(_ integer: Int128, exponent: Int) {
    self.init(isNegative: integer < 0, WidePair(integer.magnitude), exponent: exponent)
  }
}
