import StoreValues
import Testing

@Suite struct ValueOrderTests {
  @Test func nullThenNaNThenNumbersByValueOverAllNumericTypes() {
    let ascending: [Value] = [
      .null, .bool(false), .bool(true), .double(.nan), .double(-.infinity), .int(.min), .int(-1), .float(-0.5),
      .int(0), .double(0.5), .int(1), .double(.infinity), .string(""), .string("a"), .string("b"),
    ]
    for (i, a) in ascending.enumerated() {
      for (j, b) in ascending.enumerated() {
        #expect(a.order(to: b) == (i < j ? .before : i == j ? .same : .after), "\(a) against \(b)")
      }
    }
  }

  @Test func anIntegerIsComparedWithADoubleWithoutRounding() {
    #expect(Value.int(9_007_199_254_740_993).order(to: .double(9_007_199_254_740_992)) == .after)
    #expect(Value.double(9_007_199_254_740_992).order(to: .int(9_007_199_254_740_993)) == .before)
    #expect(Value.int(.max).order(to: .double(0x1p63)) == .before)
    #expect(Value.int(.min).order(to: .double(-0x1p63)) == .same)
    #expect(Value.int(-1).order(to: .double(-0.5)) == .before)
  }

  @Test func zeroesAreTheSameInOrderButNotEqualInBits() {
    #expect(Value.double(0).order(to: .double(-0.0)) == .same)
    #expect(Value.double(0) != .double(-0.0))
  }

  @Test func stringsCompareByBytesWithoutNormalisation() {
    #expect(Value.string("\u{e9}") != .string("e\u{301}"))
    #expect(Value.string("\u{e9}").order(to: .string("e\u{301}")) == .after)
  }
}
