import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@testable import QueryEngine

/// Each kernel over each layout gives, row by row, what the test of a single value gives.
@Suite struct KernelTests {
  private func tests(_ type: ValueType, _ random: inout SeededGenerator) -> [ScalarTest] {
    let values = RandomValues()
    let constants = (0..<4).map { _ in values.value(type, isOptional: false, &random) }
    var result: [ScalarTest] = [.isNull, .never, .among(type, constants), .among(type, [.null] + constants)]
    for comparator in [ComparisonOperator.equal, .less, .lessOrEqual, .greater, .greaterOrEqual] {
      if let (test, _) = ScalarTest.comparing(type, comparator, constants[0]) { result.append(test) }
    }
    guard type == .string || type == .data else { return result }
    for comparator in [ComparisonOperator.contains, .beginsWith, .endsWith] {
      for constant in constants {
        if let (test, _) = ScalarTest.comparing(type, comparator, constant) { result.append(test) }
      }
    }
    return result
  }

  @Test func everyLayoutGivesWhatSingleValuesGive() throws {
    var random = SeededGenerator.forTest()
    var encoder = BatchEncoder(random.fork())
    let scratch = Scratch(depth: 4)
    let evaluator = Evaluator(storage: try ReferenceBackend().open(OpenOptions()).beginRead())
    let values = RandomValues()
    var layouts: Set<UInt8> = []
    for type in ValueType.allCases where type != .link && type.ordersByBytes {
      for _ in 0..<80 {
        let count = [1, 63, 64, 65, 130, random.oneIn(4) ? 1008 : 200][random.below(6)]
        let pool = (0..<(1 + random.below(6))).map { _ in values.value(type, isOptional: true, &random) }
        let column = (0..<count).map { _ in random.oneIn(3) ? values.value(type, isOptional: true, &random) : pool[random.below(pool.count)] }
        let arena = VectorArena()
        defer { arena.free() }
        let vector = encoder.vector(type, column, nil, arena)
        layouts.insert(vector.layout.rawValue)
        for test in tests(type, &random) {
          let (mask, all) = (scratch.mask(0), scratch.mask(1))
          evaluator.evaluate(test, type, vector, count, into: mask, scratch)
          Masks.fill(all, rows: count)
          Masks.and(mask, all, Masks.words(for: count))
          try narrows(test, type, vector, count, to: mask, among: &random, scratch)
          for (row, value) in column.enumerated() {
            let single = type.isWord ? test.matches(word: value.word, type: type) : value.withBytes { test.matches(bytes: $0) }
            try #require(
              (mask[row >> 6] >> UInt64(row & 63) & 1 == 1) == single,
              "\(type) \(vector.layout) \(test) \(value) seed \(random.seed)")
          }
        }
      }
    }
    #expect(layouts.count == 12, "a layout was never met: seed \(random.seed)")
  }

  /// Narrowing any rows by a test of two bounds leaves those of them that pass it.
  private func narrows(
    _ test: ScalarTest, _ type: ValueType, _ vector: ColumnVector, _ count: Int, to passing: Mask,
    among random: inout SeededGenerator, _ scratch: Scratch
  ) throws {
    let column = ColumnID(TableID(1), PropertyID(1))
    guard let bounds = BoundsTest(OwnTest(column: column, type: type, test: test)) else { return }
    let (some, part) = (scratch.mask(2), scratch.mask(3))
    Masks.fill(some, rows: count)
    for word in 0..<Masks.words(for: count) { some[word] &= UInt64(truncatingIfNeeded: random.below(.max)) << 1 | 1 }
    let wanted = (0..<Masks.words(for: count)).map { some[$0] & passing[$0] }
    bounds.narrow(some, vector, count, scratch.flags, part)
    try #require(
      (0..<Masks.words(for: count)).map { some[$0] } == wanted, "\(type) \(vector.layout) \(test) seed \(random.seed)")
    #expect(Masks.count(some, wanted.count) == wanted.reduce(0) { $0 + $1.nonzeroBitCount })
  }

  @Test func aNeedleDoesNotReachFromOneRowIntoTheNext() throws {
    var encoder = BatchEncoder(SeededGenerator(seed: 1))
    let scratch = Scratch(depth: 1)
    // 40 rows of "xab" and "cab": "abc" lies across each border and in no row.
    let column = (0..<40).map { Value.string($0 % 2 == 0 ? "xab" : "cab") }
    let arena = VectorArena()
    defer { arena.free() }
    let vector = encoder.vector(.string, column, nil, arena)
    Kernels.bytes(vector, 40, .contains(Array("abc".utf8)), scratch.flags, into: scratch.mask(0))
    #expect(scratch.mask(0)[0] == 0)
    Kernels.bytes(vector, 40, .contains(Array("cab".utf8)), scratch.flags, into: scratch.mask(0))
    #expect(scratch.mask(0)[0] == 0xAA_AAAA_AAAA)
  }

  @Test func aNeedleIsFoundAtEveryPlaceOfLongText() throws {
    var random = SeededGenerator.forTest()
    let scratch = Scratch(depth: 1)
    var encoder = BatchEncoder(random.fork())
    for length in [1, 2, 3, 9] {
      let needle = String(repeating: "n", count: length - 1) + "!"
      let column = (0..<300).map { row in
        let text = (0..<random.below(90)).map { _ in random.oneIn(3) ? "n" : "x" }.joined()
        return Value.string(row % 3 == 0 ? text + needle + text : text)
      }
      let arena = VectorArena()
      defer { arena.free() }
      let vector = encoder.vector(.string, column, nil, arena)
      Kernels.bytes(vector, 300, .contains(Array(needle.utf8)), scratch.flags, into: scratch.mask(0))
      for row in 0..<300 {
        #expect((scratch.mask(0)[row >> 6] >> UInt64(row & 63) & 1 == 1) == (row % 3 == 0), "row \(row) seed \(random.seed)")
      }
    }
  }

  @Test func flagsArePackedInOrder() {
    let scratch = Scratch(depth: 1)
    for row in 0..<130 { scratch.flags[row] = row % 3 == 0 ? 1 : 0 }
    Kernels.pack(scratch.flags, 130, into: scratch.mask(0))
    for row in 0..<192 { #expect((scratch.mask(0)[row >> 6] >> UInt64(row & 63) & 1 == 1) == (row < 130 && row % 3 == 0)) }
  }
}
