import QueryEngine
import QueryModel
import StorageInterface
import StorageMemory
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

/// Which way a query takes, by counts of work.
@Suite struct AccessTests {
  private let engine: any StorageEngine
  private let catalog: Catalog

  /// 4,000 tasks; `project` is row modulo 100, `rank` the row, `title` "task <row>".
  init() throws {
    engine = try ReferenceBackend().open(OpenOptions())
    catalog = try engine.adopt(
      Schema([
        ObjectSchema(
          "Task", .scalar("project", .int64, indexed: true), .scalar("rank", .int64), .scalar("title", .string, indexed: true),
          .scalar("done", .bool), indexes: [IndexSchema(properties: ["done", "rank"], isUnique: false)])
      ]))
    let table = try #require(catalog["Task"])
    try engine.write { write in
      for i in 0..<4000 {
        try write.insert(
          table, ["project": .int(Int64(i % 100)), "rank": .int(Int64(i)), "title": .string("task \(i)"), "done": .bool(i % 2 == 0)])
      }
    }
  }

  private func comparison(_ path: String, _ comparator: ComparisonOperator, _ value: Value) -> PredicateNode {
    .comparison(Comparison(.path(PropertyPath(path)), comparator, .constant(value)))
  }

  private func run(_ condition: PredicateNode, _ sort: [SortKey] = [], limit: Int? = nil) throws -> (
    keys: [Int64], keyWork: QueryStatistics, countWork: QueryStatistics, explanation: QueryExplanation
  ) {
    let reading = try engine.beginRead()
    defer { reading.end() }
    let bound = try BoundQuery(Query(type: "Task", condition: condition, sort: sort, limit: limit), in: catalog)
    var (keyWork, countWork) = (QueryStatistics(), QueryStatistics())
    let keys = try bound.keys(in: reading, statistics: &keyWork)
    #expect(try bound.count(in: reading, statistics: &countWork) == keys.count)
    return (keys, keyWork, countWork, try bound.explain(in: reading))
  }

  @Test func anEqualityOnAnIndexedPropertyReadsNoRow() throws {
    let result = try run(comparison("project", .equal, .int(7)))
    #expect(result.keys.count == 40)
    #expect(result.keyWork.entriesRead == 40 && result.keyWork.rowsRead == 0 && result.keyWork.rowsScanned == 0)
    #expect(result.countWork.runsCounted == 1 && result.countWork.entriesRead == 0 && result.countWork.rowsScanned == 0)
    #expect(result.explanation.access == .index(properties: ["project"], runs: 1))
    #expect(result.explanation.estimatedRows == 40 && !result.explanation.testsEachRow)
  }

  @Test func whatTheIndexDoesNotSettleIsTestedOnItsRowsAlone() throws {
    let result = try run(.and([comparison("project", .equal, .int(7)), comparison("rank", .less, .int(1000))]))
    #expect(result.keys.count == 10)
    #expect(result.keyWork.entriesRead == 40 && result.keyWork.rowsRead == 40 && result.keyWork.rowsScanned == 0)
    #expect(result.explanation.testsEachRow)
  }

  @Test func inRangesAndPrefixesUseTheIndex() throws {
    let among = PredicateNode.comparison(
      Comparison(.path(PropertyPath("project")), .in, .constants([.int(5), .int(3), .int(5)])))
    #expect(try run(among).explanation.access == .index(properties: ["project"], runs: 2))
    #expect(try run(among).keys == (0..<4000).filter { [3, 5].contains($0 % 100) }.map { Int64($0 + 1) })
    let between = PredicateNode.comparison(Comparison(.path(PropertyPath("project")), .between, .constants([.int(3), .int(4)])))
    #expect(try run(between).countWork.runsCounted == 1)
    let prefix = try run(comparison("title", .beginsWith, .string("task 399")))
    #expect(prefix.keys.count == 11)
    #expect(prefix.keyWork.entriesRead == 11 && prefix.countWork.rowsScanned == 0)
  }

  @Test func aCompoundIndexTakesAnEqualityAndThenARange() throws {
    let result = try run(.and([comparison("rank", .greaterOrEqual, .int(3990)), comparison("done", .equal, .bool(true))]))
    #expect(result.keys.count == 5)
    #expect(result.keyWork.entriesRead == 5 && result.keyWork.rowsRead == 0)
    #expect(result.explanation.access == .index(properties: ["done", "rank"], runs: 1))
  }

  @Test func aConditionThatMostRowsPassIsScanned() throws {
    let result = try run(comparison("project", .greater, .int(10)))
    #expect(result.keyWork.rowsScanned >= 4000 && result.keyWork.rowsRead == 0 && result.keyWork.entriesRead == 0)
    #expect(result.explanation.access == .scan)
    #expect(result.explanation.passedOver == [QueryExplanation.IndexWay(properties: ["project"], rows: 3560)])
    #expect(result.countWork.rowsScanned == 0 && result.countWork.runsCounted == 1)
  }

  @Test func aScanEndsWhenItHasEnough() throws {
    let result = try run(comparison("rank", .greaterOrEqual, .int(0)), limit: 3)
    #expect(result.keys == [1, 2, 3])
    #expect(result.keyWork.batches == 1)
  }

  @Test func nothingIsReadForAContradiction() throws {
    let result = try run(.and([comparison("rank", .greater, .int(5)), comparison("rank", .less, .int(5))]))
    #expect(result.keys.isEmpty && result.keyWork == QueryStatistics() && result.countWork == QueryStatistics())
    #expect(result.explanation.access == .nothing)
  }

  @Test func theUnfilteredCountReadsNothing() throws {
    let reading = try engine.beginRead()
    var work = QueryStatistics()
    #expect(try BoundQuery(Query(type: "Task"), in: catalog).count(in: reading, statistics: &work) == 4000)
    #expect(work == QueryStatistics())
  }

  @Test func theFirstOfAnOrderIsTheFirst() throws {
    let reading = try engine.beginRead()
    let query = Query(type: "Task", sort: [SortKey(PropertyPath("rank"), ascending: false)])
    #expect(try BoundQuery(query, in: catalog).first(in: reading) == ObjectKey(4000))
    let result = try run(.constant(true), query.sort, limit: 700)
    #expect(result.keys == (0..<700).map { Int64(4000 - $0) })
    #expect(result.explanation.sorts && result.explanation.limit == 700)
  }

  @Test func ordersByTextSettleWhatEightBytesLeaveOpen() throws {
    let expected = (0..<4000).sorted { "task \($0)" < "task \($1)" }.map { Int64($0 + 1) }
    #expect(try run(.constant(true), [SortKey(PropertyPath("title"))]).keys == expected)
    #expect(try run(.constant(true), [SortKey(PropertyPath("title"), ascending: false)]).keys == expected.reversed())
    let every = comparison("rank", .greaterOrEqual, .int(0))
    #expect(try run(every, [SortKey(PropertyPath("title"))], limit: 50).keys == Array(expected.prefix(50)))
    let twoKeys = [SortKey(PropertyPath("project"), ascending: false), SortKey(PropertyPath("title"))]
    let byBoth = (0..<4000).sorted { ($1 % 100, "task \($0)") < ($0 % 100, "task \($1)") }.map { Int64($0 + 1) }
    #expect(try run(.constant(true), twoKeys).keys == byBoth)
    #expect(try run(every, twoKeys, limit: 321).keys == Array(byBoth.prefix(321)))
  }

  @Test func chunksThatNoRowCanPassInAreNotDelivered() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    defer { engine.close() }
    let catalog = try engine.adopt(
      Schema([ObjectSchema("Sample", .scalar("rank", .int64), .scalar("level", .double), .scalar("note", .string))]))
    let table = try #require(catalog["Sample"])
    try engine.write { write in
      for i in 0..<12_000 {
        try write.insert(table, ["rank": .int(Int64(i)), "level": .double(Double(i) / 4), "note": .string("n\(i)")])
      }
    }
    let reading = try engine.beginRead()
    defer { reading.end() }
    for condition in ["rank BETWEEN {6000, 6010}", "level >= 1500 AND level <= 1502.5", "rank == 6000 OR FALSEPREDICATE", "rank IN {6000, 6001}"] {
      let bound = try BoundQuery(Query(type: "Sample", parsing: condition), in: catalog)
      var work = QueryStatistics()
      let count = try bound.count(in: reading, statistics: &work)
      #expect(count > 0 && count < 12, "\(condition)")
      #expect(work.rowsScanned > 0 && work.rowsScanned <= 4_096, "\(condition) looked at \(work.rowsScanned) rows")
    }
  }

  @Test func aDistinctReadsWhatPassedAndALimitStopsBeforeIt() throws {
    let reading = try engine.beginRead()
    defer { reading.end() }
    var work = QueryStatistics()
    let query = try Query(type: "Task", parsing: "project == 7 DISTINCT(done) LIMIT(1)")
    #expect(try BoundQuery(query, in: catalog).keys(in: reading, statistics: &work) == [8])
    #expect(work.entriesRead == 40 && work.rowsRead == 40 && work.rowsScanned == 0)
    var limited = QueryStatistics()
    let first = try Query(type: "Task", parsing: "TRUEPREDICATE LIMIT(5) SORT(rank DESC)")
    #expect(try BoundQuery(first, in: catalog).keys(in: reading, statistics: &limited) == [5, 4, 3, 2, 1])
    #expect(limited.rowsRead == 5)
  }

  @Test func keysInHandAreFilteredAndOrderedAsGiven() throws {
    let reading = try engine.beginRead()
    defer { reading.end() }
    func keys(_ text: String, _ given: [Int64]) throws -> [Int64] {
      try BoundQuery(Query(type: "Task", parsing: text), in: catalog).keys(among: given, in: reading)
    }
    #expect(try keys("rank < 10", [5, 3, 99, 3, 1_000_000]) == [5, 3, 3])
    #expect(try keys("TRUEPREDICATE SORT(done ASC)", [1, 2, 3, 4]) == [2, 4, 1, 3])
    #expect(try keys("TRUEPREDICATE SORT(rank DESC) LIMIT(2)", [1, 2, 3]) == [3, 2])
  }
}
