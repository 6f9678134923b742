import QueryEngine
import QueryModel
import Storage
import TestSupport
import Testing
import Values

@Suite struct EngineAgainstPlainTests {
  /// `VIVARIUM_QUERIES` runs more of them.
  @Test func randomQueriesGiveWhatThePlainEvaluatorGives() throws {
    var random = SeededGenerator.forTest()
    let total = environmentNumber("VIVARIUM_QUERIES", default: 400)
    var asked = 0
    while asked < total {
      let world = try World(&random, count: [0, 1, 20, 150, 400][random.below(5)])
      let plain = PlainEvaluator(world: world)
      let reading = try world.engine.beginRead()
      defer { reading.end() }
      var queries = RandomQueries(random.fork())
      for _ in 0..<50 {
        let query = queries.query()
        let bound = try BoundQuery(query, in: world.catalog)
        let expected = plain.keys(query)
        let keys = try bound.keys(in: reading)
        try #require(keys == expected, "\(query) seed \(random.seed)")
        let printed = try BoundQuery(Query(type: "Thing", parsing: query.description), in: world.catalog)
        try #require(try printed.keys(in: reading) == expected, "\(query) seed \(random.seed)")
        try #require(try bound.count(in: reading) == expected.count, "\(query) seed \(random.seed)")
        try #require(try bound.first(in: reading)?.rawValue == expected.first, "\(query) seed \(random.seed)")
        for key in world.keys.prefix(5) {
          try #require(
            try bound.matches(ObjectKey(key), in: reading) == plain.holds(query.condition, key), "\(query) seed \(random.seed)")
        }
        asked += 1
      }
    }
  }

  @Test func selectingTheFirstGivesWhatSortingAllGives() throws {
    var random = SeededGenerator.forTest()
    let world = try World(&random, count: 900)
    let reading = try world.engine.beginRead()
    var queries = RandomQueries(random.fork())
    // Holds for every object, and the planner does not see it: the number of rows is unknown to the sorter.
    let always = PredicateNode.or([
      .comparison(Comparison(.path(PropertyPath("n")), .greater, .constant(.int(0)))),
      .comparison(Comparison(.path(PropertyPath("n")), .lessOrEqual, .constant(.int(0)))),
    ])
    for _ in 0..<environmentNumber("VIVARIUM_QUERIES", default: 400) / 25 {
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
