import Foundation
import QueryModel
import StoreValues
import Testing

/// Queries as JSON: what is read is what was written, to the last bit.
@Suite struct QueryCodingTests {
  private func again(_ query: Query) throws -> Query {
    try JSONDecoder().decode(Query.self, from: JSONEncoder().encode(query))
  }

  private static let values: [Value] = [
    .null, .bool(true), .bool(false), .int(0), .int(.min), .int(.max), .float(0.1), .float(-0.0), .float(.nan), .float(.infinity),
    .double(0.1), .double(-0.0), .double(.nan), .double(-.infinity), .double(9_007_199_254_740_992), .double(.leastNonzeroMagnitude),
    .string(""), .string("a\"\\\n日本\0"), .data(Data()), .data(Data([0, 255, 7])), .date(Timestamp(secondsSinceReferenceDate: 0.1)),
    .date(.infinity), .date(.nan), .date(Timestamp(word: 1)), .uuid(UUID()), .objectId(ObjectId()), .decimal(Decimal128("1.50") ?? .zero), .decimal(.nan),
    .decimal(-.infinity), .link(ObjectKey(7)), .object(ObjectLink(TableID(3), ObjectKey(9))), .list([]), .list([.int(1), .list([.null])]),
    .map(["é": .int(1), "e\u{301}": .int(2)]), .map([:]),
  ]

  @Test(arguments: QueryCodingTests.values)
  func everyValueComesBack(_ value: Value) throws {
    let query = Query(type: "T", condition: .comparison(Comparison(.path(PropertyPath("a")), .equal, .constant(value))))
    #expect(try again(query) == query)
  }

  @Test func everyPartOfAQueryComesBack() throws {
    let path = ExpressionNode.path(PropertyPath(["a", "['k.l']", "@count"]))
    let parts: [ExpressionNode] = [
      path, .constants([.int(1), .null]), .list([.variable("v"), .object(ObjectLiteral(type: "T", .primaryKey(.string("x"))))]),
      .object(ObjectLiteral(type: "T", .key(ObjectKey(1)))), .mixed(MixedLiteral(.list([.null]), of: StoreIdentity())),
      .folded(path, Folding(ignoresCase: true, ignoresDiacritics: false)),
      .quantified(.all, path), .arithmetic(.power, path, .constant(.int(2))),
      .subquery(Subquery(collection: PropertyPath("b"), variable: "$x", condition: .not(.constant(false)))),
    ]
    for part in parts {
      for comparator in ComparisonOperator.allCases {
        let comparison = PredicateNode.comparison(Comparison(part, comparator, path))
        let query = Query(
          type: "T", condition: .or([comparison, .and([comparison, .constant(true)])]), sort: [SortKey(PropertyPath("a.b"), ascending: false)],
          limit: 3, clauses: [.distinct([PropertyPath("c")]), .offset(1), .sort([SortKey(PropertyPath("d"))]), .limit(2)])
        #expect(try again(query) == query)
      }
    }
  }

  @Test(arguments: [
    "{}", "[]", "{\"type\": 1}", "{\"type\": \"T\", \"condition\": {\"constant\": {\"_0\": 2}}, \"sort\": [], \"clauses\": []}",
    "{\"type\": \"T\", \"condition\": {\"unheard\": {}}, \"sort\": [], \"clauses\": []}",
  ])
  func whatIsNoQueryIsAnError(_ text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Query.self, from: Data(text.utf8)) }
  }

  @Test(arguments: [
    "{}", "{\"int\": 1, \"bool\": true}", "{\"int\": 1.5}", "{\"uuid\": \"x\"}", "{\"object\": [1]}", "{\"object\": [70000, 1]}",
    "{\"decimal\": [\"1\"]}", "{\"map\": [{\"int\": 1}]}", "{\"double\": \"zz\"}", "{\"data\": \"*\"}", "{\"what\": 1}",
  ])
  func whatIsNoValueIsAnError(_ text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Value.self, from: Data(text.utf8)) }
  }
}
