import Storage
import TestSupport
import Testing

@Suite struct RadixSortTests {
  private struct Element: Equatable {
    var number: UInt64
    var place: Int
  }

  @Test func numbersOfEveryWidthComeInOrderAndEqualOnesKeepTheirs() {
    var random = SeededGenerator.forTest("numbersOfEveryWidthComeInOrderAndEqualOnesKeepTheirs")
    for count in [0, 1, 2, 100, 8_191, 8_192, 20_000] {
      for bits in [0, 1, 8, 11, 12, 33, 63, 64] {
        let mask = bits == 64 ? UInt64.max : (1 << UInt64(bits)) - 1
        let base = UInt64.random(in: .min ... .max, using: &random) & ~mask
        let elements = (0..<count).map { Element(number: base | .random(in: 0...mask, using: &random), place: $0) }
        var sorted = elements
        sorted.withUnsafeMutableBufferPointer { elements in RadixSort.sort(elements) { $0.number } }
        #expect(sorted == elements.sorted { ($0.number, $0.place) < ($1.number, $1.place) }, "\(count) of \(bits) bits")
      }
    }
  }
}
