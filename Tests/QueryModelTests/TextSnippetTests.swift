import StoreValues
import Testing

@testable import QueryModel

@Suite struct TextSnippetTests {
  private let long = "Vivarium is small. " + String(repeating: "And so on. ", count: 20) + "It is a live Dätabase of objects. "
    + String(repeating: "Nothing more. ", count: 20) + "Live again."

  @Test func hitsAreWhereWordsStand() throws {
    let text = "A live Da\u{308}tabase lives."
    let query = try TextQuery("live dat* -x")
    #expect(query.hits(in: text).map { String(text[$0]) } == ["live", "Da\u{308}tabase"])
    #expect(query.hits(in: "nothing") == [])
    let signs = "私は東京都に住んで"
    #expect(try TextQuery("東京都 住").hits(in: signs).map { String(signs[$0]) } == ["東京都", "住"])
    #expect(try TextQuery("京").hits(in: "東京京都京").count == 3)
  }

  @Test func theShownPieceHasTheMostOfTheWords() throws {
    let snippet = try TextQuery("live data* object*").snippet(of: long, length: 60)
    #expect(snippet.text.contains("live Dätabase of objects"))
    #expect(snippet.hits.map { String(snippet.text[$0]) } == ["live", "Dätabase", "objects"])
    #expect(snippet.isCutAtStart && snippet.isCutAtEnd)
    #expect(snippet.text.count <= 60)
    #expect(long.contains(snippet.text))
    #expect(snippet.description == "…\(snippet.text)…")
    #expect(snippet.text.first?.isWhitespace == false && snippet.text.last?.isWhitespace == false)
  }

  @Test func aShortTextIsShownWhole() throws {
    let snippet = try TextQuery("live").snippet(of: "A live thing")
    #expect(snippet.text == "A live thing" && !snippet.isCutAtStart && !snippet.isCutAtEnd)
    #expect(snippet.description == "A live thing")
    #expect(try TextQuery("live").snippet(of: "").text == "")
  }

  @Test func withoutAHitItIsTheBeginning() throws {
    let snippet = try TextQuery("zebra").snippet(of: long, length: 30)
    #expect(long.hasPrefix(snippet.text) && snippet.hits.isEmpty && snippet.isCutAtEnd && !snippet.isCutAtStart)
    #expect((10...30).contains(snippet.text.count))
  }

  @Test(arguments: [-5, 0, 1, 2, 3, 7, 50, 10_000]) func anyLengthShowsAtLeastAWholeHit(_ length: Int) throws {
    for text in [long, "日本語の文章を検索する", "👨‍👩‍👧live👨‍👩‍👧", "e\u{301}live", "live"] {
      for sought in ["live", "検索", "文"] {
        let query = try TextQuery(sought)
        let snippet = query.snippet(of: text, length: length)
        #expect(text.contains(snippet.text))
        #expect(query.hits(in: text).isEmpty == snippet.hits.isEmpty, "\(text) \(sought)")
        for hit in snippet.hits { #expect(query.hits(in: String(snippet.text[hit])).isEmpty == false) }
      }
    }
  }
}
