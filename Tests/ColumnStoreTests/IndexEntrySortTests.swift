import Testing
import VivariumTestSupport

@testable import ColumnStore

@Suite struct RadixSortTests {
  /// On both sides of the count from which digits are sorted, and with objects that did not come in their order.
  @Test func entriesComeInTheOrderOfWordsAndThenOfObjects() {
    var random = SeededGenerator.forTest()
    for count in [0, 1, 2, 511, 512, 5_000] {
      for bits in [0, 1, 11, 12, 33, 64] {
        let mask = bits == 64 ? UInt64.max : (1 << UInt64(bits)) - 1
        let base = UInt64.random(in: .min ... .max, using: &random) & ~mask
        let entries = (0..<count).map { _ in
          WordIndexEntry(word: base | .random(in: 0...mask, using: &random), packed: .random(in: 0..<1_000, using: &random))
        }
        var sorted = entries
        WordIndexEntry.sort(&sorted)
        let expected = entries.sorted { ($0.word, $0.packed) < ($1.word, $1.packed) }
        #expect(sorted.map(\.word) == expected.map(\.word) && sorted.map(\.packed) == expected.map(\.packed), "\(count) of \(bits) bits")
      }
    }
  }
}
