import QueryModel
import StoreValues
import Testing

@Suite struct PredicateNodeTests {
  private func equal(_ path: String, _ number: Int64) -> PredicateNode {
    .comparison(Comparison(.path(PropertyPath(path)), .equal, .constant(.int(number))))
  }

  @Test func bothDoesNotNestAndInAnd() {
    let (a, b, c) = (equal("a", 1), equal("b", 2), equal("c", 3))
    #expect(PredicateNode.both(a, b) == .and([a, b]))
    #expect(PredicateNode.both(.and([a, b]), c) == .and([a, b, c]))
    #expect(PredicateNode.both(a, .and([b, c])) == .and([a, b, c]))
    #expect(PredicateNode.both(.and([a]), .and([b, c])) == .and([a, b, c]))
  }

  @Test func truthAddsNothing() {
    let a = equal("a", 1)
    #expect(PredicateNode.both(.constant(true), a) == a)
    #expect(PredicateNode.both(a, .constant(true)) == a)
    #expect(PredicateNode.both(a, .constant(false)) == .and([a, .constant(false)]))
  }

  @Test func pathsAreSplitAtDotsAndWrittenWithThem() {
    #expect(PropertyPath("best.name").components == ["best", "name"])
    #expect(PropertyPath("best.name").description == "best.name")
    #expect(PropertyPath("").components == [""])
  }
}
