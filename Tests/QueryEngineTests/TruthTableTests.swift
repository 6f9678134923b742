import QueryEngine
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

/// Null, NaN and strings, spelled out.
@Suite struct TruthTableTests {
  private let engine: any StorageEngine
  private let catalog: Catalog

  /// Rows 1 to 3 have null, NaN and 1.0 in `d`; null, "" and "a" in `s`; null, 1 and 2 in `i`.
  init() throws {
    engine = try ReferenceBackend().open(OpenOptions())
    catalog = try engine.adopt(
      Schema([
        ObjectSchema(
          "N", .scalar("d", .double, optional: true), .scalar("s", .string, optional: true),
          .scalar("i", .int64, optional: true), .link("next", to: "N"))
      ]))
    let table = try #require(catalog["N"])
    try engine.write { write in
      try write.insert(table, [:])
      try write.insert(table, ["d": .double(.nan), "s": .string(""), "i": .int(1)])
      try write.insert(table, ["d": .double(1), "s": .string("a"), "i": .int(2), "next": .link(ObjectKey(2))])
    }
  }

  private func keys(_ condition: PredicateNode, _ sort: [SortKey] = []) throws -> [Int64] {
    let reading = try engine.beginRead()
    defer { reading.end() }
    return try BoundQuery(Query(type: "N", condition: condition, sort: sort), in: catalog).keys(in: reading)
  }

  private func keys(_ path: String, _ comparator: ComparisonOperator, _ value: Value) throws -> [Int64] {
    try keys(.comparison(Comparison(.path(PropertyPath(path)), comparator, .constant(value))))
  }

  @Test(arguments: [
    ("==", [1]), ("!=", [2, 3]), ("<", []), (">", []), ("<=", [1]), (">=", [1]),
  ] as [(String, [Int64])])
  func againstNull(_ comparator: String, _ expected: [Int64]) throws {
    for path in ["d", "s", "i"] {
      let comparator = try #require(ComparisonOperator(rawValue: comparator))
      #expect(try keys(path, comparator, .null) == expected, "\(path)")
    }
  }

  @Test(arguments: [
    ("==", []), ("!=", [1, 2, 3]), ("<", []), (">", []), ("<=", []), (">=", []),
  ] as [(String, [Int64])])
  func againstNaN(_ comparator: String, _ expected: [Int64]) throws {
    let comparator = try #require(ComparisonOperator(rawValue: comparator))
    #expect(try keys("d", comparator, .double(.nan)) == expected)
    #expect(try keys("i", comparator, .double(.nan)) == expected)
  }

  @Test func ordersSkipNullAndNaNAndTheirNegationsDoNot() throws {
    #expect(try keys("d", .less, .double(2)) == [3])
    #expect(try keys("d", .greater, .double(0)) == [3])
    #expect(try keys("d", .notEqual, .double(1)) == [1, 2])
    #expect(try keys(.not(.comparison(Comparison(.path(PropertyPath("d")), .less, .constant(.double(2)))))) == [1, 2])
  }

  @Test func aNullStringIsBelowEveryString() throws {
    #expect(try keys("s", .less, .string("")) == [1])
    #expect(try keys("s", .lessOrEqual, .string("")) == [1, 2])
    #expect(try keys("s", .greaterOrEqual, .string("")) == [2, 3])
    let between = ExpressionNode.constants([.string(""), .string("z")])
    #expect(try keys(.comparison(Comparison(.path(PropertyPath("s")), .between, between))) == [2, 3])
  }

  @Test func aNullStringIsBelowTheStringsOfAListToo() throws {
    func keys(_ comparator: ComparisonOperator, _ values: [Value]) throws -> [Int64] {
      try self.keys(.comparison(Comparison(.path(PropertyPath("s")), comparator, .constants(values))))
    }
    for text in ["", "a", "b"] {
      for comparator in [ComparisonOperator.less, .lessOrEqual, .greater, .greaterOrEqual, .equal, .notEqual] {
        #expect(try keys(comparator, [.string(text)]) == self.keys("s", comparator, .string(text)), "\(comparator) \(text)")
      }
    }
    #expect(try keys(.less, [.string(""), .string("a")]) == [1, 2])
    // A null that is written is below nothing, in a list as alone.
    #expect(try keys(.less, [.null]) == [] && keys(.greater, [.null]) == [] && keys(.greaterOrEqual, [.null]) == [1])
    #expect(try keys(.greater, [.null, .string("")]) == [3])
    // Of a list with other values than strings it is not said.
    #expect(try self.keys(.comparison(Comparison(.path(PropertyPath("i")), .less, .constants([.int(2)])))) == [2])
  }

  @Test func anEmptyNeedleMatchesEveryStringAndANullNeedleNone() throws {
    for comparator in [ComparisonOperator.contains, .beginsWith, .endsWith] {
      #expect(try keys("s", comparator, .string("")) == [2, 3])
      #expect(try keys("s", comparator, .null) == [])
      #expect(try keys(.comparison(Comparison(.constant(.null), comparator, .path(PropertyPath("s"))))) == [])
    }
  }

  @Test func aNullLinkMakesThePathNull() throws {
    #expect(try keys("next.i", .equal, .null) == [1, 2])
    #expect(try keys("next.i", .notEqual, .int(1)) == [1, 2])
    #expect(try keys("next.i", .equal, .int(1)) == [3])
    #expect(try keys("next.next.i", .equal, .null) == [1, 2, 3])
  }

  @Test func nullEqualsNullBetweenProperties() throws {
    let same = Comparison(.path(PropertyPath("i")), .equal, .path(PropertyPath("i")))
    #expect(try keys(.comparison(same)) == [1, 2, 3])
    let nan = Comparison(.path(PropertyPath("d")), .equal, .path(PropertyPath("d")))
    #expect(try keys(.comparison(nan)) == [1, 3])
  }

  @Test func nullIsFirstAscendingAndLastDescending() throws {
    #expect(try keys(.constant(true), [SortKey(PropertyPath("d"))]) == [1, 2, 3])
    #expect(try keys(.constant(true), [SortKey(PropertyPath("d"), ascending: false)]) == [3, 2, 1])
    #expect(try keys(.constant(true), [SortKey(PropertyPath("next.s"), ascending: false)]) == [1, 2, 3])
  }

  @Test func boundsInTheWrongOrderMatchNothing() throws {
    let reversed = ExpressionNode.constants([.int(2), .int(1)])
    #expect(try keys(.comparison(Comparison(.path(PropertyPath("i")), .between, reversed))) == [])
  }

  @Test func integersAndDoublesCompareByValue() throws {
    #expect(try keys("i", .greater, .double(1.5)) == [3])
    #expect(try keys("i", .equal, .double(1.5)) == [])
    #expect(try keys("i", .notEqual, .double(1.5)) == [1, 2, 3])
    #expect(try keys("d", .equal, .int(1)) == [3])
    #expect(try keys("i", .less, .double(.infinity)) == [2, 3])
  }
}
