import StoreValues
import Testing

@testable import QueryModel

@Suite struct TextQueryTests {
  private func fault(_ text: String) -> TextQueryError? {
    do throws(TextQueryError) { _ = try TextQuery(text) } catch { return error }
    return nil
  }

  @Test func wordsBeginningsAndExclusionsAreTold() throws {
    #expect(try TextQuery("Live dat* -server").words == ["live", "dat*"])
    #expect(try TextQuery("  a\tb\u{3000}c\n").words == ["a", "b", "c"])
    #expect(try TextQuery("a A á a").words == ["a"])
    #expect(try TextQuery("state-of-the-art*").words == ["state", "of", "the", "art*"])
    #expect(try TextQuery("日本語 語 東*").words == ["日本", "本語", "語*", "東*"])
    #expect(try TextQuery("日本*").words == ["日本"])
    #expect(try TextQuery("a - & -! b").words == ["a", "b"])
  }

  @Test func whatCannotBeLookedForSaysWhere() {
    for text in ["", "   ", "!?", "-", "- -"] { #expect(fault(text)?.code == .noWords, "\(text)") }
    #expect(fault("-a -b")?.code == .onlyExclusions)
    #expect(fault("  -a")?.position == 2)
    for (text, position) in [("*", 0), ("*a", 0), ("a b*c", 3), ("a **", 2), ("é !*", 4), ("-*", 1)] {
      #expect(fault(text)?.code == .strayStar, "\(text)")
      #expect(fault(text)?.position == position, "\(text)")
    }
    let many = (0...TextQuery.termsMax).map { "w\($0)" }
    #expect(fault(many.joined(separator: " "))?.code == .tooManyWords)
    #expect(fault(many.dropLast().joined(separator: " ")) == nil)
    #expect(fault(String(repeating: "again ", count: 10_000)) == nil)
  }

  @Test(arguments: [
    ("live", true), ("LIVE database", true), ("live cat", false), ("dat*", true), ("data", false), ("live -server", true),
    ("live -database", false), ("live -dat*", false), ("live -big-database", true), ("live -live-database", false), ("a live database", true),
    ("l* d*", true), ("-x live", true), ("objects'", true),
  ])
  func everyWordMustBeThereAndNoneThatIsExcluded(_ sought: String, _ expected: Bool) throws {
    #expect(try TextQuery(sought).matches("A live database, of Objects.") == expected)
  }

  @Test func signsAreFoundWhereverTheyStand() throws {
    let text = "私は東京都に住んでいます。"
    for sought in ["東京", "東京都", "都", "私", "す", "住んで", "京*"] { #expect(try TextQuery(sought).matches(text), "\(sought)") }
    for sought in ["京東", "都東", "東京 大阪", "東京 -都"] { #expect(try !TextQuery(sought).matches(text), "\(sought)") }
    // Pairs are looked for, not the run: both are there.
    #expect(try TextQuery("東京都").matches("東京と京都"))
  }

  @Test func aScoreGrowsWithWhatIsThere() throws {
    let query = try TextQuery("live data*")
    let scores = ["live", "live data", "live live data", "live live data database"].map { query.score(of: $0) }
    #expect(scores[0] == 0)
    #expect(zip(scores, scores.dropFirst()).allSatisfy { $0 < $1 })
    #expect(scores[3] < 1)
    #expect(try TextQuery("live -data").score(of: "live data") == 0)
  }

  @Test func besideOthersRareWordsAndShortTextsCountMore() throws {
    let query = try TextQuery("red apple")
    let texts = ["red apple", "red apple and a good many other things", nil, "red", "red red red apple"]
    let scores = query.scores(of: texts)
    #expect(scores[2] == 0 && scores[3] == 0)
    #expect(scores[0] > scores[1] && scores[1] > 0)
    #expect(scores[4] > scores[1])
    #expect(query.scores(of: [String?]()) == [])
    #expect(try TextQuery("x").scores(of: ["x", "x"]).allSatisfy { $0 > 0 })
  }
}
