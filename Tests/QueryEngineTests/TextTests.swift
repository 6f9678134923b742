import QueryEngine
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct TextTests {
  private let engine: any StorageEngine
  private let catalog: Catalog
  private static let texts: [String?] = [
    nil, "", "a", "A", "á", "a\u{301}", "abc", "ABC", "a\nc", "日本", "🦄c", "ΣΑΣ", "σας", "straße", "100%", "a*c", "Ünder",
  ]

  init() throws {
    engine = try ReferenceBackend().open(OpenOptions())
    catalog = try engine.adopt(Schema([ObjectSchema("S", .scalar("s", .string, optional: true, indexed: true))]))
    let table = try #require(catalog["S"])
    try engine.write { write in
      for text in TextTests.texts { try write.insert(table, text.map { ["s": .string($0)] } ?? [:]) }
    }
  }

  private func texts(_ condition: String) throws -> [String?] {
    let reading = try engine.beginRead()
    defer { reading.end() }
    let bound = try BoundQuery(Query(type: "S", parsing: condition), in: catalog)
    let keys = try bound.keys(in: reading)
    for key in 1...TextTests.texts.count {
      #expect(try bound.matches(ObjectKey(Int64(key)), in: reading) == keys.contains(Int64(key)), "\(condition)")
    }
    return keys.map { TextTests.texts[Int($0) - 1] }
  }

  @Test func likeTakesRunsAndCodePoints() throws {
    #expect(try texts("s LIKE 'a*'") == ["a", "a\u{301}", "abc", "a\nc", "a*c"])
    #expect(try texts("s LIKE '*c'") == ["abc", "a\nc", "🦄c", "a*c"])
    #expect(try texts("s LIKE '?c'") == ["🦄c"])
    #expect(try texts("s LIKE 'a?c'") == ["abc", "a\nc", "a*c"])
    #expect(try texts("s LIKE '??'") == ["a\u{301}", "日本", "🦄c"])
    #expect(try texts("s LIKE ''") == [""])
    #expect(try texts("s LIKE '*'").count == 16)
    #expect(try texts("s LIKE nil") == [nil])
    #expect(try texts("s LIKE '*%'") == ["100%"])
    #expect(try texts("NOT s LIKE '*'") == [nil])
  }

  @Test func foldingForgetsCaseAndMarks() throws {
    #expect(try texts("s ==[c] 'abc'") == ["abc", "ABC"])
    #expect(try texts("s ==[d] 'a'") == ["a", "á", "a\u{301}"])
    #expect(try texts("s ==[cd] 'Á'") == ["a", "A", "á", "a\u{301}"])
    #expect(try texts("s ==[c] 'σασ'") == ["ΣΑΣ", "σας"])
    #expect(try texts("s BEGINSWITH[cd] 'u'") == ["Ünder"])
    #expect(try texts("s CONTAINS[c] 'STRA'") == ["straße"])
    #expect(try texts("s LIKE[c] 'A?C'") == ["abc", "ABC", "a\nc", "a*c"])
    #expect(try texts("s !=[c] 'abc'").count == 15)
    #expect(try texts("s IN[c] {'ABC', 'a'}") == ["a", "A", "abc", "ABC"])
  }

  @Test func wordsAreThereWhateverTheirCaseAndMarks() throws {
    #expect(try texts("s TEXT 'a'") == ["a", "A", "á", "a\u{301}", "a\nc", "a*c"])
    #expect(try texts("s TEXT 'C á'") == ["a\nc", "a*c"])
    #expect(try texts("s TEXT 'a*'") == ["a", "A", "á", "a\u{301}", "abc", "ABC", "a\nc", "a*c"])
    #expect(try texts("s TEXT 'a* -c'") == ["a", "A", "á", "a\u{301}", "abc", "ABC"])
    #expect(try texts("s TEXT 'σασ'") == ["ΣΑΣ", "σας"])
    #expect(try texts("s TEXT '日'") == ["日本"])
    #expect(try texts("s TEXT '日本'") == ["日本"])
    #expect(try texts("s TEXT '100'") == ["100%"])
    #expect(try texts("NOT s TEXT 'a*'").count == TextTests.texts.count - 8)
    #expect(try texts("s TEXT nil") == [])
    #expect(try texts("'A live thing' TEXT 'live'").count == TextTests.texts.count)
  }

  @Test(arguments: ["", "  ", "!?", "-a", "*", "*a", "a*b"]) func whatCannotBeLookedForIsToldBeforeAnythingIsRead(_ sought: String) {
    do {
      _ = try texts("s TEXT '\(sought)'")
      Issue.record("\(sought) was asked")
    } catch let error as QueryError {
      #expect(error.code == .badArgument && !error.message.isEmpty && !error.remedy.isEmpty)
    } catch { Issue.record(error) }
  }

  @Test func matchesIsOfTheWholeTextAndLinear() throws {
    #expect(try texts("s MATCHES 'a.c'") == ["abc", "a*c"])
    #expect(try texts("s MATCHES '[a-c]+'") == ["a", "abc"])
    #expect(try texts("s MATCHES '\\\\d+%'") == ["100%"])
    #expect(try texts("s MATCHES[c] 'ab?c|Σ.*'") == ["abc", "ABC", "ΣΑΣ", "σας"])
    #expect(try texts("s MATCHES '(?:日|本){2}'") == ["日本"])
    #expect(try texts("s MATCHES '^a$'") == ["a"])
    #expect(try texts("s MATCHES '(a*)*b'") == [])
    #expect(try texts("s MATCHES[d] 'á'") == ["a", "á", "a\u{301}"])
    #expect(try texts("s MATCHES[cd] '[ÁB]'") == ["a", "A", "á", "a\u{301}"])
    for pattern in ["(", "a)", "[a", "*", "a**", "a{2", "\\\\q", "(?=a)", "(((a{1000}){1000}){1000})"] {
      #expect(throws: QueryError.self, "\(pattern)") { try texts("s MATCHES '\(pattern)'") }
    }
  }
}
