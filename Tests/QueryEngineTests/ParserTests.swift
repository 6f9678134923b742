import Foundation
import QueryEngine
import QueryModel
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct ParserTests {
  private func node(_ text: String, _ arguments: QueryArgument...) throws -> PredicateNode {
    try PredicateNode(parsing: text, arguments: arguments)
  }

  private func comparison(_ path: String, _ comparator: ComparisonOperator, _ value: Value) -> PredicateNode {
    .comparison(Comparison(.path(PropertyPath(path)), comparator, .constant(value)))
  }

  private func fault(_ text: String, _ arguments: [QueryArgument] = []) -> QueryError? {
    do throws(QueryError) { _ = try Query(type: "T", parsing: text, arguments: arguments) } catch { return error }
    return nil
  }

  @Test func spellingsOfOneConditionAreOneCondition() throws {
    for text in ["a == 1", "a = 1", "a=1", " a\n==\t1 ", "(a == 1)", "((a = 1))"] { #expect(try node(text) == comparison("a", .equal, .int(1))) }
    for text in ["a <> 1", "a != 1"] { #expect(try node(text) == comparison("a", .notEqual, .int(1))) }
    for text in ["a =< 1", "a <= 1"] { #expect(try node(text) == comparison("a", .lessOrEqual, .int(1))) }
    let (a, b) = (comparison("a", .equal, .int(1)), comparison("b", .equal, .int(2)))
    for text in ["a == 1 AND b == 2", "a == 1 && b == 2", "a == 1 and(b == 2)"] { #expect(try node(text) == .and([a, b])) }
    for text in ["NOT a == 1", "!a == 1", "! (a == 1)", "not(a == 1)"] { #expect(try node(text) == .not(a)) }
    #expect(try node("a == 1 OR a == 1 AND b == 2") == .or([a, .and([a, b])]))
    #expect(try node("a == nil") == comparison("a", .equal, .null))
    #expect(try node("a BEGINSWITH 'x'") == node("a beginswith \"x\""))
  }

  @Test func textIsAnOperatorBehindAPathAndANameElsewhere() throws {
    for text in ["a TEXT 'b* -c'", "a text \"b* -c\"", "a TEXT $0"] {
      #expect(try node(text, .value(.string("b* -c"))) == comparison("a", .text, .string("b* -c")), "\(text)")
    }
    #expect(try node("text TEXT 'a'") == comparison("text", .text, .string("a")))
    #expect(try node("text == 'a'") == comparison("text", .equal, .string("a")))
    #expect(try node("ANY a.text TEXT 'a'").description == "ANY a.text TEXT \"a\"")
    #expect(fault("a TEXT[c] 'b'")?.code == .syntax)
    #expect(fault("a TEXT[c] 'b'")?.position == 6)
    #expect(fault("a TEXT")?.code == .syntax)
  }

  @Test(arguments: ["a IN {1,}", "a IN {,}", "a IN {1,,2}", "a BETWEEN 5", "a BETWEEN nil", "a BETWEEN -1", "a == 1 SORT(b.@count ASC)"])
  func listsEndWithAnElementAndBoundsStandInBraces(_ text: String) {
    #expect(fault(text)?.code == .syntax)
  }

  @Test(arguments: ["a IN {b}", "a BETWEEN {b, c}", "a IN {1, b.@count}", "a IN {1 + 2}", "a == {1, ANY b}"])
  func listsHoldWrittenValuesOnly(_ text: String) {
    #expect(fault(text)?.code == .syntax)
  }

  @Test(arguments: ["a.@min[0] = 1", "a.@count[FIRST] = 1", "a.@sum[*].b = 1", "a.@type['k'] = 'int'", "a.@links[0] = 1"])
  func noPositionFollowsAnOperator(_ text: String) {
    #expect(fault(text)?.code == .syntax)
    #expect(fault("a.@values[0] = 1 AND a[0].@max.b = 1") == nil)
  }

  @Test func aPathGivenForAnElementIsNoMistakeOfGrammar() {
    #expect(fault("a IN {1, $0}", [.path(PropertyPath("b"))])?.code == .notSupported)
  }

  @Test(arguments: [
    "geoBox([0.2, 0.2], [0.7, 0.7])", "geoCircle([-0.3, 1, 20], 1)", "geoPolygon({[0, 0], [1, 0], [1, 1], [0, 0]})",
    "geoPolygon({[0, 0], [9, 0], [9, 9]}, {[1, 1], [2, 1], [2, 2]})", "GEOCIRCLE([$0, $1], $2)", "$0",
  ])
  func regionsAreReadAndNotAvailable(_ region: String) {
    let given = Array(repeating: QueryArgument.value(.int(1)), count: 3)
    #expect(fault("a GEOWITHIN \(region)", given)?.code == .notSupported)
  }

  @Test(arguments: [
    "geoBox([0.2, 0.2])", "geoBox([0.2, 0.2], 1)", "geoCircle()", "geoCircle([0.3], 1)", "geoCircle([0.3 0.3], 1)", "geoCircle([0, 0], 1",
    "geoPolygon([0, 0], [1, 1])", "geoPolygon({})", "geoPoint(1, 2)", "b", "1.2", "NULL",
  ])
  func whatIsNoRegionIsAMistakeOfGrammar(_ region: String) {
    #expect(fault("a GEOWITHIN \(region)")?.code == .syntax)
  }

  @Test func literalsHaveTheirValues() throws {
    #expect(try node("a == 2f OR a == .5f OR a == 1.f") == node("a == float(2) OR a == float(0.5) OR a == float(1)"))
    #expect(try node("a IN {,1}") == node("a IN {1}"))
    #expect(try node("a == -9223372036854775807") == comparison("a", .equal, .int(-.max)))
    #expect(try node("a == -9223372036854775808") == comparison("a", .equal, .int(.min)))
    #expect(try node("a == -9.223372036854776e+18") == comparison("a", .equal, .double(-0x1p63)))
    #expect(try node("a == 0x1F") == comparison("a", .equal, .int(31)))
    #expect(try node("a == 1.5e3") == comparison("a", .equal, .double(1500)))
    #expect(try node("a == 5.") == comparison("a", .equal, .double(5)))
    #expect(try node("a == -inf") == comparison("a", .equal, .double(-.infinity)))
    #expect(try node("a == YES") == comparison("a", .equal, .bool(true)))
    #expect(try node("a == 'it\\'s \\u00e9\\n'") == comparison("a", .equal, .string("it's é\n")))
    #expect(try node("a == '\\ud83e\\udd84'") == comparison("a", .equal, .string("🦄")))
    #expect(try node("a == 2001-01-01@00:00:01") == comparison("a", .equal, .date(Timestamp(secondsSinceReferenceDate: 1))))
    #expect(try node("a == 1970-1-1@0:0:0:1") == comparison("a", .equal, .date(Timestamp(secondsSince1970: 0, nanoseconds: 1))))
    #expect(try node("a == T-5:-7") == comparison("a", .equal, .date(Timestamp(secondsSince1970: -5, nanoseconds: -7))))
    // Before 1970 the nanoseconds lead away from it, as in Realm.
    #expect(
      try node("a == 1969-12-31@23:59:59:500") == comparison("a", .equal, .date(Timestamp(secondsSince1970: -1, nanoseconds: -500))))
    #expect(try node("a == T978307201:0") == comparison("a", .equal, .date(Timestamp(secondsSinceReferenceDate: 1))))
    #expect(try node("a == binary(B64'AAE=')") == comparison("a", .equal, .data(.init([0, 1]))))
  }

  @Test func argumentsAreTakenByPlaceOrByNumber() throws {
    #expect(try node("%K == %@ AND b == %d", .path(PropertyPath("a")), .value(.int(1)), .value(.int(2))) == node("a == 1 AND b == 2"))
    #expect(try node("a == $1 AND b == $0", .value(.int(2)), .value(.int(1))) == node("a == 1 AND b == 2"))
    #expect(try node("a IN %@", .values([.int(1), .null])) == node("a IN {1, nil}"))
    #expect(fault("a == %@")?.code == .missingArgument)
  }

  @Test func boundsThatAreOneArgumentAreRefusedAtTheirPlace() throws {
    let one = fault("NOT a BETWEEN %@", [.value(.int(1))])
    #expect(one?.code == .badArgument && one?.position == 14)
    #expect(try node("a BETWEEN %@", .values([.int(1), .int(2)])) == node("a BETWEEN {1, 2}"))
  }

  @Test func oneValueBehindInIsRefusedAtItsPlace() throws {
    let one = fault("NOT a IN %@", [.value(.int(1))])
    #expect(one?.code == .badArgument && one?.position == 9)
    let written = fault("price IN 5")
    #expect(written?.code == .syntax && written?.message == "Expected a list, a text or a collection after IN and found 5.")
    #expect(written?.remedy == "Give the values in braces, or compare with ==.")
    #expect(fault("a IN 'text'") == nil && fault("a IN %@", [.value(.string("text"))]) == nil && fault("a IN %@", [.values([])]) == nil)
    // A list that is given may stand among values.
    #expect(try node("a IN {1, %@}", .values([.int(2), .int(3)])) == node("a IN {1, 2, 3}"))
  }

  @Test(arguments: ["#$5 == 1", "a.#$5 == 1", "#$5.a == 1", "a.#$K5 == 1", "a.$b == 1", "#$K == 1"])
  func namesThatLookLikeArgumentsPrintAsNames(_ text: String) throws {
    let printed = try Query(type: "T", parsing: text).description
    #expect(try Query(type: "T", parsing: printed).condition == Query(type: "T", parsing: text).condition, "\(printed)")
  }

  @Test func keywordsAreOnlyKeywordsWhereTheyCanBe() throws {
    #expect(try node("in in {1}") == .comparison(Comparison(.path(PropertyPath("in")), .in, .constants([.int(1)]))))
    #expect(try node("limit == 1") == comparison("limit", .equal, .int(1)))
    #expect(try node("#and == 1") == comparison("and", .equal, .int(1)))
    #expect(try node("a\\ b == 1") == comparison("a b", .equal, .int(1)))
  }

  @Test func clausesFollowTheCondition() throws {
    let query = try Query(type: "T", parsing: "a == 1 SORT(b ASC, c.d DESC) sort (e ascending) LIMIT(5) LIMIT(3)")
    #expect(query.sort == [SortKey(PropertyPath("e")), SortKey(PropertyPath("b")), SortKey(PropertyPath("c.d"), ascending: false)])
    #expect(query.limit == 3)
    #expect(query.condition == comparison("a", .equal, .int(1)))
  }

  @Test func clausesApplyFromLeftToRight() throws {
    let query = try Query(type: "T", parsing: "a == 1 SORT(b ASC) DISTINCT(c, d.e) LIMIT(5) SORT(f DESC) OFFSET(2)")
    #expect(query.sort == [SortKey(PropertyPath("b"))] && query.limit == nil)
    #expect(
      query.clauses == [
        .distinct([PropertyPath("c"), PropertyPath("d.e")]), .limit(5), .sort([SortKey(PropertyPath("f"), ascending: false)]),
        .offset(2),
      ])
  }

  @Test func variablesAreNamesThatNoSubqueryGives() throws {
    let text = try node("a == $v AND SUBQUERY(b, $v, $v.c == 1).@count > 0")
    let replaced = text.substituting(["v": .int(3)])
    #expect(try replaced == node("a == 3 AND SUBQUERY(b, $v, $v.c == 1).@count > 0"))
    #expect(try node("%K == 1", .path(PropertyPath(["$v"]))).substituting(["v": .int(3)]) == node("%K == 1", .path(PropertyPath(["$v"]))))
  }

  @Test func namesPrintSoThatTheyReadAsThemselves() throws {
    for name in ["a b", "in", "null", "T399", "9lives", "a.b", "a-b", "\t\u{1}\n", "é", "$x", "uuid", "self", "quote'\"", "back\\slash", "[0]x"] {
      let condition = comparison("x", .equal, .int(1)).mappingPaths { _ in PropertyPath([name]) }
      #expect(try node(condition.description) == condition, "\(condition)")
      let longer = comparison("x", .equal, .int(1)).mappingPaths { _ in PropertyPath(["a", name, "@count"]) }
      #expect(try node(longer.description) == longer, "\(longer)")
    }
  }

  @Test func valuesPrintSoThatTheyReadAsThemselves() throws {
    let values: [Value] = [
      .null, .bool(true), .int(.min), .int(.max), .double(0.1), .double(-0.0), .double(1e300), .double(.infinity), .double(.nan), .float(0.1),
      .float(-.infinity), .string("it's \"so\"\n\0\\ é 🦄"), .data(Data([0, 255])), .date(Timestamp(secondsSinceReferenceDate: 0.1)),
      .date(Timestamp(secondsSince1970: -1, nanoseconds: -500_000_000)), .date(Timestamp(secondsSince1970: 0, nanoseconds: -1)),
      .date(Timestamp(secondsSince1970: 1_600_000_000, nanoseconds: 1)), .date(Timestamp(secondsSince1970: -1_600_000_000, nanoseconds: -1)),
      .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), .link(ObjectKey(7)), .objectId(.zero),
      .decimal(Decimal128(1.5)), .decimal(.nan), .object(ObjectLink(TableID(3), ObjectKey(7))),
    ]
    for value in values + TimestampSamples.edges.map({ .date($0) }) {
      let condition = comparison("a", .equal, value)
      #expect(try node(condition.description) == condition, "\(condition)")
    }
    let list = PredicateNode.comparison(Comparison(.path(PropertyPath("a")), .in, .constants(values)))
    #expect(try node(list.description) == list)
  }

  @Test func mistakesSayWhereTheyAre() {
    for (text, position) in [
      ("", 0), ("age", 3), ("a = ", 4), ("a == 1 b", 7), ("(a = 1", 6), ("a = 'x", 4), ("a === 1", 4), ("é = = 1", 5), ("a @ 1", 2),
      ("a..b = 1", 2), ("1.0. = 1", 0), ("a = 1 AND", 9), ("a IN {1 2}", 8), ("a IN {{1}, 2}", 6), ("a == {1, {2}}", 9), ("a IN 5", 5),
      ("a IN nil AND b", 5), ("NOT a IN -2.5", 9),
    ] {
      let error = fault(text)
      #expect(error?.code == .syntax, "\(text)")
      #expect(error?.position == position, "\(text): \(error?.description ?? "")")
    }
  }

  @Test func deepAndLongTextIsReadOrRefused() {
    #expect(fault(String(repeating: "(", count: 100_000))?.code == .tooComplex)
    #expect(fault(String(repeating: "!", count: 100_000) + "a = 1")?.code == .tooComplex)
    #expect(fault("a = 1" + String(repeating: "+1", count: 100_000))?.code == .tooComplex)
    #expect(fault((0..<20_000).map { "a == \($0)" }.joined(separator: " OR ")) == nil)
  }

  @Test func bracketsAndTermsInARowAddUp() {
    func text(_ levels: Int, _ terms: Int) -> String {
      var text = "a"
      for level in 0..<levels {
        let sign = ["+", "*", "**"][level % 3]
        text = "(" + text + String(repeating: sign + "1", count: terms) + ")"
      }
      return text + " > 1"
    }
    #expect(fault(text(90, 199))?.code == .tooComplex)
    #expect(fault(text(10, 199))?.code == .tooComplex)
    #expect(fault(text(10, 30)) == nil && fault(text(1, 199)) == nil && fault(text(90, 1)) == nil)
    // What stands side by side does not.
    #expect(fault((0..<50).map { _ in text(1, 199) }.joined(separator: " AND ")) == nil)
  }

  @Test func anyTextGivesAConditionOrAnError() {
    var random = SeededGenerator.forTest()
    let words = [
      "a", "b.c", "==", "<", "IN", "{", "}", "(", ")", "1", "-", "'x'", "\"", "AND", "NOT", "ANY", "%@", "$0", "[c]", "@count", ".", "SORT", "LIMIT",
      "\\", "é", "\0", "SUBQUERY(", ",", "T1:", "2020-1-1@", "0x", "uuid(", "🦄", "LIKE", "B64", "'\\u12", "#", "%",
    ]
    for _ in 0..<5000 {
      let text = (0..<random.below(12)).map { _ in words[random.below(words.count)] }.joined(separator: random.oneIn(2) ? " " : "")
      if let error = fault(text, [.value(.int(1))]) {
        #expect(error.position.map { $0 <= text.utf8.count } ?? true, "\(text) seed \(random.seed)")
      }
    }
  }
}

extension PredicateNode {
  /// With every path replaced.
  fileprivate func mappingPaths(_ change: (PropertyPath) -> PropertyPath) -> PredicateNode {
    mappingExpressions { if case .path(let path) = $0 { .path(change(path)) } else { $0 } }
  }
}
