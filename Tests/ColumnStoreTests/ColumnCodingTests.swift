import StorageInterface
import Testing
import VivariumTestSupport

@testable import ColumnStore

@Suite struct ColumnCodingTests {
  private func column(_ words: [Int64?], _ form: ColumnShape.Form) -> EditedColumn {
    let column = EditedColumn(form: form, capacity: words.count)
    for word in words { column.append(word: word ?? 0, isNull: word == nil) }
    return column
  }

  private func check(_ words: [Int64?], _ form: ColumnShape.Form, _ layout: ColumnVector.Layout) throws {
    let encoded = ColumnEncoder.encode(column(words, form))
    let decoded = try DecodedColumn(encoded.bytes, form: form, count: words.count)
    #expect(decoded.vector.layout == layout)
    for (i, word) in words.enumerated() {
      #expect(decoded.vector.isNull(at: i) == (word == nil))
      if let word { #expect(decoded.vector.word(at: i) == word) }
    }
    withExtendedLifetime(encoded) {}
  }

  @Test(arguments: [4_096, 16_384]) func aColumnOfWordsFillsItsPages(pageSize: Int) {
    // A large value shares its first page with a header: a power of two of rows would take a page more, for a few bytes.
    let overhead = 16
    let header = FileHeader(pageSize: pageSize, pageOverhead: overhead)
    let bytes = ColumnHeader.size + header.rowsPerChunk * 8
    let pages = (overhead + bytes + pageSize - 1) / pageSize
    #expect(pages * pageSize - overhead - bytes < pages * pageSize / 16)
    #expect(header.rowsPerChunk.nonzeroBitCount > 1)
  }

  @Test func integersTakeTheNarrowestWidthThatHoldsTheirRange() throws {
    try check([5, 5, 5], .integer, .constantWord)
    try check([1_000, 1_255, 1_001], .integer, .int8)
    try check([-1, 300], .integer, .int16)
    try check([0, 70_000, nil], .integer, .int32)
    try check([.min, .max, 0, nil], .integer, .int64)
    try check([nil, nil], .integer, .constantWord)
  }

  @Test func boolsTakeABitAndDoublesKeepTheirBits() throws {
    try check((0..<77).map { $0 % 3 == 0 ? 1 : 0 }, .bit, .bits)
    let doubles = [0.0, -0.0, .nan, 1.5, -.infinity].map { Int64(bitPattern: $0.bitPattern) }
    try check(doubles + [nil], .double, .float64)
  }

  @Test func boundsLeaveNullsAndNaNOut() throws {
    let words = [2.5, .nan, -1].map { Int64(bitPattern: $0.bitPattern) }
    let encoded = ColumnEncoder.encode(column(words + [nil], .double))
    let vector = try DecodedColumn(encoded.bytes, form: .double, count: 4).vector
    #expect(vector.min == ZoneHint.ordinal(of: -1))
    #expect(vector.max == ZoneHint.ordinal(of: 2.5))
  }

  @Test(arguments: [
    [-0.0], [-0.0, -0.0], [0.0, -0.0], [-0.0, -5], [-0.0, 5], [7, 7], [-.infinity, .infinity], [-.nan, 1], [.nan, .nan], [-3, -2.5, 4e300],
  ]) func boundsOfDoublesAreThoseOfTheirOrdinals(_ numbers: [Double]) throws {
    let encoded = ColumnEncoder.encode(column(numbers.map { Int64(bitPattern: $0.bitPattern) }, .double))
    let vector = try DecodedColumn(encoded.bytes, form: .double, count: numbers.count).vector
    let ordinals = numbers.filter { !$0.isNaN }.map(ZoneHint.ordinal(of:))
    #expect(vector.min == ordinals.min() ?? .max && vector.max == ordinals.max() ?? .min)
    #expect((vector.layout == .constantWord) == (Set(numbers.map(\.bitPattern)).count == 1))
    for (row, number) in numbers.enumerated() { #expect(vector.word(at: row) == Int64(bitPattern: number.bitPattern)) }
  }

  @Test func stringsOfAnyLengthComeBack() throws {
    let strings = ["", "a", String(repeating: "é", count: 40_000), "z"]
    let column = EditedColumn(form: .bytes, capacity: 4)
    for text in strings { Array(text.utf8).withUnsafeBytes { column.append(bytes: $0) } }
    column.append(bytes: nil)
    let encoded = ColumnEncoder.encode(column)
    let vector = try DecodedColumn(encoded.bytes, form: .bytes, count: 5).vector
    #expect(vector.layout == .bytes32)
    #expect((0..<4).map { String(decoding: vector.bytes(at: $0), as: UTF8.self) } == strings)
    #expect(vector.isNull(at: 4))
  }

  @Test func damagedColumnsAreRefusedOrReadWithinTheirBytes() {
    var random = SeededGenerator.forTest()
    let text = EditedColumn(form: .bytes, capacity: 50)
    for i in 0..<50 { Array("row \(i)".utf8).withUnsafeBytes { text.append(bytes: i % 7 == 0 ? nil : $0) } }
    let samples: [(ValueBuffer, ColumnShape.Form)] = [
      (ColumnEncoder.encode(text), .bytes),
      (ColumnEncoder.encode(column((0..<50).map { $0 % 5 == 0 ? nil : Int64($0 * 1_000) }, .integer)), .integer),
    ]
    for _ in 0..<4_000 {
      let (sample, form) = samples[random.below(2)]
      var bytes = Array(sample.bytes)
      for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      if random.oneIn(3) { bytes.removeLast(random.below(bytes.count)) }
      let damaged = ValueBuffer(bytes)
      guard let vector = try? DecodedColumn(damaged.bytes, form: form, count: 50).vector else { continue }
      for row in 0..<50 where form == .bytes {
        let lent = vector.bytes(at: row)
        #expect(lent.isEmpty || damaged.bytes.baseAddress.map { $0 <= lent.baseAddress ?? $0 } ?? true)
        for byte in lent { _ = byte }
      }
    }
  }
}
