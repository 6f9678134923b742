import QueryEngine
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

/// Where in the text a mistake is, when what it means is found out only by the schema.
@Suite struct PositionTests {
  private let catalog: Catalog

  init() throws { catalog = try ReferenceBackend().open(OpenOptions()).adopt(World.schema) }

  /// Which part of the text the mistake stands at: from its byte on.
  private func place(_ text: String, _ arguments: [QueryArgument] = []) throws -> String? {
    do throws(QueryError) {
      _ = try BoundQuery(try Query(type: "Thing", parsing: text, arguments: arguments), in: catalog)
      Issue.record("'\(text)' was accepted.")
      return nil
    } catch {
      let position = try #require(error.position, "\(text): \(error)")
      return String(decoding: text.utf8.dropFirst(position), as: UTF8.self)
    }
  }

  @Test func anUnknownPropertyIsSaidWithItsByte() throws {
    #expect(try place("n == 1 AND naem == 'x'") == "naem == 'x'")
    #expect(try place("s == 'é' AND (n == 1 OR best.naem == 'x')") == "best.naem == 'x')")
    #expect(try place("n + naem == 3") == "naem == 3")
    #expect(try place("n == naem") == "naem")
    #expect(try place("NOT 'x' BEGINSWITH[c] naem") == "naem")
    #expect(try place("n == 1 AND %K == 2", [.path(PropertyPath("naem"))]) == "%K == 2")
    #expect(try place("n == %@", [.path(PropertyPath("naem"))]) == "%@")
    #expect(try place("n == $nobody.n") == "$nobody.n")
  }

  @Test func typesThatDoNotGoTogetherAreSaidWithTheirByte() throws {
    #expect(try place("s == 'a' && n == 'one'") == "n == 'one'")
    #expect(try place("s == 'a' && n > s") == "n > s")
    #expect(try place("n == 1 AND n CONTAINS 'x'") == "n CONTAINS 'x'")
    #expect(try place("TRUEPREDICATE AND 'x' == 3") == "'x' == 3")
    #expect(try place("n == 1 AND ANY best.n == 1") == "best.n == 1")
    #expect(try place("n == 1 AND s + 1 == 2") == "s + 1 == 2")
    #expect(try place("n == 1 AND best.home.@sum.size == 2") == "best.home.@sum.size == 2")
    #expect(try place("n == 1 AND n == $missing") == "n == $missing")
  }

  @Test func unknownTypesAndWrongSubqueriesAreSaidWithTheirByte() throws {
    #expect(try place("n == 1 AND best == obj('Nothing', 1)") == "obj('Nothing', 1)")
    #expect(try place("n == 1 AND SUBQUERY(n, $x, $x.n == 1).@count == 2") == "n, $x, $x.n == 1).@count == 2")
    let inner = "SUBQUERY(@links.Thing.best, $x, $x.naem == 1).@count == 2"
    #expect(try place("n == 1 AND \(inner)") == "$x.naem == 1).@count == 2")
  }

  @Test func clausesAreSaidWithTheirByte() throws {
    #expect(try place("n == 1 SORT(naem ASC)") == "naem ASC)")
    #expect(try place("n == 1 SORT(s ASC, best DESC)") == "best DESC)")
    #expect(try place("n == 1 SORT(s ASC[c], n DESC[c])") == "n DESC[c])")
    #expect(try place("n == 1 DISTINCT(s, best.naem)") == "best.naem)")
  }

  @Test func whereItWasWrittenIsNoPartOfWhatItMeans() throws {
    let (a, b) = (try Query(type: "Thing", parsing: "n == 1"), try Query(type: "Thing", parsing: "   n   ==   1"))
    #expect(a == b && a.hashValue == b.hashValue)
    #expect(try Query(type: "Thing", parsing: a.description) == a)
  }
}
