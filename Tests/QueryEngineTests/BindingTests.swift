import QueryEngine
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct BindingTests {
  private let catalog: Catalog

  init() throws { catalog = try ReferenceBackend().open(OpenOptions()).adopt(World.schema) }

  private func code(_ query: Query) -> QueryError.Code? {
    do throws(QueryError) { _ = try BoundQuery(query, in: catalog) } catch {
      #expect(!error.message.isEmpty && !error.remedy.isEmpty)
      return error.code
    }
    return nil
  }

  private func code(_ path: String, _ comparator: ComparisonOperator, _ right: ExpressionNode) -> QueryError.Code? {
    code(Query(type: "Thing", condition: .comparison(Comparison(.path(PropertyPath(path)), comparator, right))))
  }

  @Test func everyMistakeHasItsCode() {
    #expect(code(Query(type: "Nothing")) == .unknownType)
    #expect(code("age", .equal, .constant(.int(1))) == .unknownProperty)
    #expect(code("home.age", .equal, .constant(.int(1))) == .unknownProperty)
    #expect(code("", .equal, .constant(.int(1))) == .unknownProperty)
    #expect(code("n.x", .equal, .constant(.int(1))) == .unknownProperty)
    #expect(code("n", .equal, .constant(.string("one"))) == .typeMismatch)
    #expect(code("n", .equal, .constant(.string("1"))) == nil)
    #expect(code("n", .in, .constants([.string("one"), .int(1)])) == nil)
    #expect(code("n", .in, .constants([.string("one"), .bool(true)])) == .typeMismatch)
    #expect(code("n", .equal, .constant(.bool(true))) == .typeMismatch)
    #expect(code("s", .equal, .path(PropertyPath("n"))) == .typeMismatch)
    #expect(code("n", .contains, .constant(.int(1))) == .badOperator)
    #expect(code("u", .beginsWith, .constant(.null)) == .badOperator)
    #expect(code("best", .less, .constant(.link(ObjectKey(1)))) == .badOperator)
    #expect(code("n", .between, .constants([.int(1)])) == .badArgument)
    #expect(code("n", .between, .constants([.int(1), .string("a")])) == .typeMismatch)
    #expect(code("n", .between, .constant(.int(1))) == .badArgument)
    #expect(code("n", .contains, .constants([.int(1)])) == .badOperator)
    #expect(code("s", .text, .constant(.string("a"))) == nil)
    #expect(code("best.sO", .text, .constant(.string("a"))) == nil)
    for path in ["n", "b", "u", "t", "best"] { #expect(code(path, .text, .constant(.null)) == .badOperator, "\(path)") }
    #expect(code("s", .text, .constant(.int(1))) == .typeMismatch)
    #expect(code("s", .text, .path(PropertyPath("sO"))) == .badArgument)
    #expect(code("s", .text, .constants([.string("a")])) == .badArgument)
    #expect(code("s", .text, .folded(.constant(.string("a")), .caseInsensitive)) == .badOperator)
    #expect(code("s", .text, .variable("x")) == .missingArgument)
    #expect(code(Query(type: "Thing", sort: [SortKey(PropertyPath("best"))])) == .typeMismatch)
    #expect(code(Query(type: "Thing", limit: -1)) == .badArgument)
  }

  @Test func deepNestingIsRefusedAndWideConditionsAreNot() {
    var deep = PredicateNode.constant(true)
    for _ in 0..<2000 { deep = .not(deep) }
    #expect(code(Query(type: "Thing", condition: deep)) == .tooComplex)
    let one = PredicateNode.comparison(Comparison(.path(PropertyPath("n")), .notEqual, .constant(.int(1))))
    #expect(code(Query(type: "Thing", condition: .or(Array(repeating: one, count: 5000)))) == nil)
  }

  @Test func aQueryNamesTheColumnsItReads() throws {
    let things = try #require(catalog["Thing"])
    let places = try #require(catalog["Place"])
    let condition = PredicateNode.comparison(Comparison(.path(PropertyPath("home.name")), .equal, .constant(.string("a"))))
    let bound = try BoundQuery(Query(type: "Thing", condition: condition, sort: [SortKey(PropertyPath("n"))]), in: catalog)
    #expect(bound.readProperties == [things.column(named: "home"), places.column(named: "name"), things.column(named: "n")])
    #expect(bound.followsLinks)
    #expect(try !BoundQuery(Query(type: "Thing", sort: [SortKey(PropertyPath("n"))]), in: catalog).followsLinks)
  }
}
