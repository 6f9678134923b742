import QueryEngine
import QueryModel
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct CollectionsAgainstPlainTests {
  /// `VIVARIUM_QUERIES` runs more of them. Each world has a seed of its own: what a failure names asks that world alone.
  @Test(arguments: CorpusTests.Engine.allCases)
  func randomConditionsOverCollectionsGiveWhatThePlainEvaluatorGives(_ engine: CorpusTests.Engine) throws {
    let total = environmentNumber("VIVARIUM_QUERIES", default: 300)
    var random = SeededGenerator.forTest("random conditions over collections on \(engine)")
    var seeds = random
    var progress = Progress("random conditions over collections on \(engine)", of: total)
    var asked = 0
    while asked < total {
      let folder = TemporaryDirectory("collections")
      let world = try CollectionWorld(engine.backend(folder), &random, count: [1, 5, 12, 30][random.below(4)])
      defer { world.engine.close() }
      let plain = PlainCollections(world)
      let reading = try world.engine.beginRead()
      defer { reading.end() }
      var queries = RandomCollectionQueries(random.fork())
      for _ in 0..<(total > 10_000 ? 1_000 : 100) {
        try ask(queries.query(), world, plain, reading, random.seed)
        asked += 1
        progress.advance()
      }
      random = seeds.fork()
    }
  }

  private func ask(
    _ query: Query, _ world: CollectionWorld, _ plain: PlainCollections, _ reading: any ReadTransaction, _ seed: UInt64
  ) throws {
    let bound: BoundQuery
    do throws(QueryError) { bound = try BoundQuery(query, in: world.catalog) } catch {
      Issue.record("\(query): \(error) seed \(seed)")
      return
    }
    let expected = plain.keys(query)
    try #require(try bound.keys(in: reading) == expected, "\(query) seed \(seed)")
    try #require(try bound.count(in: reading) == expected.count, "\(query) seed \(seed)")
    let printed = try Query(type: "Item", parsing: query.description)
    try #require(
      try Query(type: "Item", parsing: printed.description) == printed, "\(query) prints as \(printed), seed \(seed)")
    try #require(
      try BoundQuery(printed, in: world.catalog).keys(in: reading) == expected, "\(query) as text, seed \(seed)")
  }
}
