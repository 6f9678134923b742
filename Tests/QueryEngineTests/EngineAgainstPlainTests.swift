import QueryEngine
import QueryModel
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct EngineAgainstPlainTests {
  /// `VIVARIUM_QUERIES` runs more of them. Each world has a seed of its own: what a failure names asks that world alone.
  @Test(arguments: CorpusTests.Engine.allCases)
  func randomQueriesGiveWhatThePlainEvaluatorGives(_ engine: CorpusTests.Engine) throws {
    let total = environmentNumber("VIVARIUM_QUERIES", default: 200)
    var random = SeededGenerator.forTest("random queries on \(engine)")
    var seeds = random
    var progress = Progress("random queries on \(engine)", of: total)
    var asked = 0
    while asked < total {
      let folder = TemporaryDirectory("queries")
      let count = [0, 1, 20, 150, 400, 150, 20, random.oneIn(2) ? 1_200 : 60][random.below(8)]
      let world = try World(&random, count: count, on: engine.backend(folder))
      defer { world.engine.close() }
      let plain = PlainEvaluator(world: world)
      let reading = try world.engine.beginRead()
      defer { reading.end() }
      var queries = RandomQueries(random.fork())
      // Making a world of an engine's own files takes longer than asking it.
      for _ in 0..<(total > 10_000 ? 400 : 40) {
        try ask(queries.query(), world, plain, reading, random.seed)
        asked += 1
        progress.advance()
      }
      random = seeds.fork()
    }
  }

  private func ask(
    _ query: Query, _ world: World, _ plain: PlainEvaluator, _ reading: any ReadTransaction, _ seed: UInt64
  ) throws {
    let bound: BoundQuery
    do throws(QueryError) { bound = try BoundQuery(query, in: world.catalog) } catch {
      Issue.record("\(query): \(error) seed \(seed)")
      return
    }
    let expected = plain.keys(query)
    try #require(try bound.keys(in: reading) == expected, "\(query) seed \(seed)")
    let printed = try Query(type: "Thing", parsing: query.description)
    try #require(
      try Query(type: "Thing", parsing: printed.description) == printed, "\(query) prints as \(printed), seed \(seed)")
    try #require(
      try BoundQuery(printed, in: world.catalog).keys(in: reading) == expected, "\(query) as text, seed \(seed)")
    try #require(try bound.count(in: reading) == expected.count, "\(query) seed \(seed)")
    try #require(try bound.first(in: reading)?.rawValue == expected.first, "\(query) seed \(seed)")
    let some = world.keys.prefix(20)
    let passed = some.map { plain.holds(query.condition, $0) }
    for (key, passes) in zip(some, passed).prefix(5) {
      try #require(try bound.matches(ObjectKey(key), in: reading) == passes, "\(query) seed \(seed)")
    }
    try #require(try bound.matches(Array(some), in: reading) == passed, "\(query) seed \(seed)")
  }

  /// Small pages: the rows come in many batches, and what is behind the best so far is left out of all but the first.
  @Test(arguments: [4_096, 512]) func selectingTheFirstGivesWhatSortingAllGives(_ pageSize: Int) throws {
    var random = SeededGenerator.forTest("selecting from pages of \(pageSize)")
    let world = try World(&random, count: 1_500, on: MemoryBackend(pageSize: pageSize))
    defer { world.engine.close() }
    let reading = try world.engine.beginRead()
    var queries = RandomQueries(random.fork())
    // Holds for every object, and the planner does not see it: the number of rows is unknown to the sorter.
    let always = PredicateNode.or([
      .comparison(Comparison(.path(PropertyPath("n")), .greater, .constant(.int(0)))),
      .comparison(Comparison(.path(PropertyPath("n")), .lessOrEqual, .constant(.int(0)))),
    ])
    for _ in 0..<environmentNumber("VIVARIUM_QUERIES", default: 2_500) / 25 {
      var query = Query(type: "Thing", condition: always, sort: queries.query().sort)
      let all = try BoundQuery(query, in: world.catalog).keys(in: reading)
      let limit = random.below(400)
      query.limit = limit
      let first = try BoundQuery(query, in: world.catalog).keys(in: reading)
      try #require(first == Array(all.prefix(limit)), "\(query.sort) limit \(limit) seed \(random.seed)")
    }
  }

  @Test func aBoundQueryAnswersEveryVersion() throws {
    var random = SeededGenerator.forTest()
    let world = try World(&random, count: 50)
    let bound = try BoundQuery(Query(type: "Thing", condition: .comparison(Comparison(.path(PropertyPath("n")), .equal, .constant(.int(77))))), in: world.catalog)
    let before = try world.engine.beginRead()
    var added: ObjectKey?
    try world.engine.write { write in added = try write.insert(world.things, ["n": .int(77)]) }
    let after = try world.engine.beginRead()
    #expect(try bound.keys(in: before) == [])
    #expect(try bound.keys(in: after) == [try #require(added).rawValue])
    #expect(try !bound.matches(try #require(added), in: before))
  }

  @Test func anObjectThatDoesNotLiveDoesNotMatch() throws {
    var random = SeededGenerator.forTest()
    let world = try World(&random, count: 5)
    let bound = try BoundQuery(Query(type: "Thing"), in: world.catalog)
    #expect(try !bound.matches(ObjectKey(1_000_000), in: try world.engine.beginRead()))
  }
}
