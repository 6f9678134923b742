import Testing
import VivariumTestSupport

@testable import QueryEngine

@Suite struct RadixSortTests {
  @Test func numbersOfEveryWidthComeInOrderAndEqualOnesKeepTheirs() {
    var random = SeededGenerator.forTest()
    for count in [0, 1, 2, 63, 64, 100, 8_191, 8_192, 20_000] {
      for bits in [0, 1, 8, 11, 12, 33, 63, 64] {
        let mask = bits == 64 ? UInt64.max : (1 << UInt64(bits)) - 1
        let rows = (0..<count).map { SortEntry(number: .random(in: 0...mask, using: &random), row: Int32($0)) }
        var sorted = ContiguousArray(rows)
        RadixSort.sort(&sorted, bits: bits)
        let expected = rows.sorted { ($0.number, $0.row) < ($1.number, $1.row) }
        #expect(sorted.map(\.number) == expected.map(\.number) && sorted.map(\.row) == expected.map(\.row), "\(count) of \(bits) bits")
      }
    }
  }
}
