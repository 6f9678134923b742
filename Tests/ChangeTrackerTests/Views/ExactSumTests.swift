import ChangeTracker
import Testing
import VivariumTestSupport

@Suite struct ExactSumTests {
  private func sum(_ values: [Double]) -> Double {
    var sum = ExactSum()
    for value in values { sum.add(value) }
    return sum.value
  }

  @Test func itIsRoundedOnce() {
    #expect(sum([]) == 0)
    #expect(sum([0.1, 0.2]) == 0.3.nextUp)
    #expect(sum([1e100, 1, -1e100]) == 1)
    #expect(sum([1e308, 1e308, -1e308]) == 1e308)
    #expect(sum([.greatestFiniteMagnitude, .greatestFiniteMagnitude]) == .infinity)
    #expect(sum([.leastNonzeroMagnitude, .leastNonzeroMagnitude]) == 2 * .leastNonzeroMagnitude)
    #expect(sum([-1, 0.25]) == -0.75)
    // A tie goes to the even neighbour, and a little more than a tie up.
    #expect(sum([1, 0x1p-53]) == 1)
    #expect(sum([1, 0x1p-53, 0x1p-200]) == 1 + 0x1p-52)
    #expect(sum([1 + 0x1p-52, 0x1p-53]) == 1 + 0x1p-51)
  }

  @Test func whatIsNotFiniteGoesAgainToo() {
    var sum = ExactSum()
    sum.add(1.5)
    sum.add(.infinity)
    #expect(sum.value == .infinity)
    sum.add(-.infinity)
    #expect(sum.value.isNaN)
    sum.subtract(.infinity)
    #expect(sum.value == -.infinity)
    sum.add(.nan)
    #expect(sum.value.isNaN)
    sum.subtract(.nan)
    sum.subtract(-.infinity)
    #expect(sum.value == 1.5)
  }

  /// Numbers of all sizes, in and out in any order: nothing is left of what went.
  @Test func nothingIsLeftOfWhatWasTakenAway() {
    var random = SeededGenerator.forTest()
    func number() -> Double {
      let value = Double(bitPattern: random.next())
      return value.isFinite ? value / 16 : Double(random.below(1_000))
    }
    for _ in 0..<200 {
      let (stay, go) = ((0..<5).map { _ in number() }, (0..<20).map { _ in number() })
      var left = ExactSum()
      for value in (stay + go).shuffled(using: &random) { left.add(value) }
      for value in go.shuffled(using: &random) { left.subtract(value) }
      #expect(left.value == sum(stay) && left.value == sum(stay.reversed()))
    }
  }
}
