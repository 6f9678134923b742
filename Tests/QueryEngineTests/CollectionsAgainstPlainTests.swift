import QueryEngine
import QueryModel
import Storage
import TestSupport
import Testing
import Values

@Suite struct CollectionsAgainstPlainTests {
  /// `VIVARIUM_QUERIES` runs more of them.
  @Test(arguments: CorpusTests.Engine.allCases)
  func randomConditionsOverCollectionsGiveWhatThePlainEvaluatorGives(_ engine: CorpusTests.Engine) throws {
    var random = SeededGenerator.forTest()
    let total = environmentNumber("VIVARIUM_QUERIES", default: 300)
    var asked = 0
    while asked < total {
      let folder = TemporaryDirectory("collections")
      let world = try CollectionWorld(engine.backend(folder), &random, count: [1, 5, 12, 30][random.below(4)])
      defer { world.engine.close() }
      let plain = PlainCollections(world)
      let reading = try world.engine.beginRead()
      defer { reading.end() }
      var queries = RandomCollectionQueries(random.fork())
      for _ in 0..<100 {
        let depth = random.below(3)
        let query = Query(type: "Item", condition: queries.condition(depth: depth))
        asked += 1
        let bound: BoundQuery
        do throws(QueryError) { bound = try BoundQuery(query, in: world.catalog) } catch {
          Issue.record("\(query): \(error) seed \(random.seed)")
          continue
        }
        let expected = plain.keys(query.condition)
        try #require(try bound.keys(in: reading) == expected, "\(query) seed \(random.seed)")
        try #require(try bound.count(in: reading) == expected.count, "\(query) seed \(random.seed)")
        let printed = try BoundQuery(Query(type: "Item", parsing: query.description), in: world.catalog)
        try #require(try printed.keys(in: reading) == expected, "\(query) as text, seed \(random.seed)")
      }
    }
  }
}
