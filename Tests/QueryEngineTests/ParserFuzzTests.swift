import QueryEngine
import QueryModel
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct ParserFuzzTests {
  /// `VIVARIUM_FUZZ` tries more of them.
  @Test func anyTextGivesAQueryOrAnErrorWithItsPosition() throws {
    var random = SeededGenerator.forTest()
    let total = environmentNumber("VIVARIUM_FUZZ", default: 20_000)
    var progress = Progress("texts", of: total)
    let seeds = Corpus.all.map { Array($0.condition.utf8) } + ParserFuzzTests.odd.map { Array($0.utf8) }
    let arguments: [QueryArgument] = [.value(.int(1)), .values([.string("a")]), .path(PropertyPath("a.b"))]
    for _ in 0..<total {
      progress.advance()
      let text = mutation(seeds, &random)
      switch parse(text, arguments) {
      case .success(let query):
        // Arguments are values by now: what was accepted prints as a text that is accepted and reads the same.
        switch parse(query.description, []) {
        case .success(let again): try #require(again.description == query.description, "\(text.debugDescription) seed \(random.seed)")
        case .failure(let error):
          Issue.record("\(text.debugDescription) prints as \(query.description.debugDescription): \(error) seed \(random.seed)")
        }
      case .failure(let error):
        try #require((0...text.utf8.count).contains(error.position ?? -1), "\(text.debugDescription): \(error) seed \(random.seed)")
        try #require(!error.message.isEmpty && !error.remedy.isEmpty, "\(text.debugDescription): \(error)")
      }
    }
  }

  /// What is read from any text is bound and answered, or refused. Most mutations are neither: errors are no fault.
  @Test func whateverIsReadIsAnsweredOrRefused() throws {
    var random = SeededGenerator.forTest()
    let corpus = try Corpus(MemoryBackend())
    defer { corpus.engine.close() }
    let reading = try corpus.engine.beginRead()
    defer { reading.end() }
    let seeds = Corpus.all.map { Array($0.condition.utf8) }
    let total = environmentNumber("VIVARIUM_FUZZ", default: 20_000) / 4
    var progress = Progress("texts that are asked", of: total)
    var answered = 0
    for _ in 0..<total {
      progress.advance()
      let text = mutation(seeds, &random)
      guard case .success(let query) = parse(text, []) else { continue }
      do {
        let keys = try BoundQuery(query, in: corpus.catalog).keys(in: reading)
        try #require(Set(keys).isSubset(of: corpus.keys), "\(text.debugDescription) seed \(random.seed)")
        answered += 1
      } catch let error as QueryError {
        try #require(!error.message.isEmpty && error.code != .storage, "\(text.debugDescription): \(error) seed \(random.seed)")
      }
    }
    #expect(answered > total / 50)
  }

  private func parse(_ text: String, _ arguments: [QueryArgument]) -> Result<Query, QueryError> {
    Result { () throws(QueryError) in try Query(type: "Person", parsing: text, arguments: arguments) }
  }

  private static let odd = [
    "a.b['k'][0][*].@type == 'int'", "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y.c == 1).@count > 0).@count == 1", "obj('T', 1) IN a",
    "a == T1:5 OR a == 2017-12-04@12:0:0:5", "a == uuid(3b241101-e2bb-4255-8caf-4136c566a961)", "a == oid(5f0000000000000000000001)",
    "a == B64\"AAEC\" AND b == binary(B64'AAEC')", "#in == 1 AND a\\ b == 2", "%K == %@ AND x IN $1 AND $v > 1", "a ** 2 ** 3 - -1 == 0x1F",
    "ANY (a.b ** 2) ** 3 - -1 == 1", "a ==[cd] \"\\u00e9\\uD83D\\uDE00\" SORT(a ASC, b DESC) DISTINCT(c, d.e) LIMIT(1) OFFSET(2)", "NONE {1, 2.5, nil} * 2 <= ALL a",
  ]

  private func mutation(_ seeds: [[UInt8]], _ random: inout SeededGenerator) -> String {
    var bytes = seeds[random.below(seeds.count)]
    for _ in 0...random.below(4) {
      let at = random.below(bytes.count + 1)
      switch random.below(6) {
      case 0: bytes.insert(UInt8(truncatingIfNeeded: random.below(256)), at: at)
      case 1: if at < bytes.count { bytes.remove(at: at) }
      case 2: if at < bytes.count { bytes[at] ^= 1 << UInt8(random.below(8)) }
      case 3:
        let other = seeds[random.below(seeds.count)]
        bytes.insert(contentsOf: other[random.below(other.count)...].prefix(random.below(20)), at: at)
      case 4: bytes.removeLast(bytes.count - at)
      default:
        let words = ["(", ")", "{", "}", "[", "]", "'", "\"", "\\", "$", "%@", "@", ".", "NOT ", " AND ", "ANY ", "**", "\0"]
        bytes.insert(contentsOf: words[random.below(words.count)].utf8, at: at)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: ["(", "NOT ", "!", "{", "SUBQUERY(a, $x, ", "a == (", "ANY ", "a + ", "a."])
  func nestingIsBounded(_ piece: String) {
    #expect(throws: QueryError.self) { try PredicateNode(parsing: String(repeating: piece, count: 100_000)) }
  }

  @Test func manyConditionsInARowAreNoNesting() throws {
    let text = (0..<10_000).map { "a == \($0)" }.joined(separator: " OR ")
    guard case .or(let parts) = try PredicateNode(parsing: text) else { return #expect(Bool(false)) }
    #expect(parts.count == 10_000)
  }
}
