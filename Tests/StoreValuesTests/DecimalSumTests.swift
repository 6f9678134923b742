import StoreValues
import Testing
import VivariumTestSupport

/// The sum of decimals is the nearest one to the exact sum, whatever the exponents and the order are.
@Suite struct DecimalSumTests {
  private func sum(_ texts: [String]) throws -> Decimal128 {
    var sum = DecimalSum()
    for text in texts { sum.add(try #require(Decimal128(text))) }
    return sum.value
  }

  @Test(arguments: [
    // What is great goes away, in other forms than it came in, and what is small is still there.
    (["1E+40", "1", "-10E+39"], "1"), (["-1E+6000", "0.01", "10E+5999"], "0.01"), (["1E+33", "-1E+33", "5"], "5"),
    (["1E+20", "1E-20", "-100E+18", "-10E-21"], "0"),
    // Once: just beyond a half, just below one, and exactly on one to the even side.
    (["9999999999999999999999999999999998", "0.5", "1E-60"], "9999999999999999999999999999999999"),
    (["9999999999999999999999999999999998", "0.5", "-1E-60"], "9999999999999999999999999999999998"),
    (["9999999999999999999999999999999998", "0.5"], "9999999999999999999999999999999998"),
    (["9999999999999999999999999999999999", "0.5"], "1E+34"), (["-9999999999999999999999999999999999", "-0.5"], "-1E+34"),
    (["9.999999999999999999999999999999999E+6144", "1E+6144"], "Infinity"), (["1.50", "1.5"], "3.00"), ([], "0"),
  ])
  func `a sum is rounded once`(_ texts: [String], _ expected: String) throws {
    let expected = try #require(Decimal128(expected))
    #expect(try sum(texts) == expected)
    #expect(try sum(texts.reversed()) == expected)
  }

  @Test func `sums are what integers add up to`() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<300 {
      var (sum, exact) = (DecimalSum(), Int128(0))
      var added: [(Decimal128, Int128)] = []
      for _ in 0..<40 {
        if random.oneIn(3), let (number, part) = added.popLast() {
          sum.subtract(number)
          exact -= part
          continue
        }
        let (coefficient, exponent) = (Int64.random(in: -999_999_999_999...999_999_999_999, using: &random), random.below(20))
        let number = try #require(Decimal128("\(coefficient)E-\(exponent)"))
        let part = Int128(coefficient) * (0..<(19 - exponent)).reduce(1) { power, _ in power * 10 }
        sum.add(number)
        exact += part
        added.append((number, part))
      }
      #expect(sum.value == Decimal128("\(exact)E-19"))
    }
  }
}
