import QueryEngine
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct AggregateTests {
  private func path(_ text: String) -> PropertyPath { PropertyPath(text) }

  @Test func aggregatesAreThoseOfThePlainValues() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<8 {
      let world = try World(&random, count: 300)
      let plain = PlainEvaluator(world: world)
      let reading = try world.engine.beginRead()
      var queries = RandomQueries(random.fork())
      for _ in 0..<8 {
        var query = queries.query()
        if random.oneIn(2) { query.limit = nil }
        let bound = try BoundQuery(query, in: world.catalog)
        let keys = plain.keys(query)
        for name in ["tiny", "short", "medium", "best.short", "f", "d", "dO", "t"] {
          let values = keys.map { world.value(path(name), of: $0) }.filter { !$0.isNull }
          let numbers = values.filter { !isNaN($0) }
          let least = numbers.min { $0.order(to: $1) == .before } ?? .null
          let greatest = numbers.min { $0.order(to: $1) == .after } ?? .null
          #expect(try bound.min(path(name), in: reading).order(to: least) == .same, "\(query) \(name) seed \(random.seed)")
          #expect(try bound.max(path(name), in: reading).order(to: greatest) == .same, "\(query) \(name) seed \(random.seed)")
          if name == "t" { continue }
          let sum = try bound.sum(path(name), in: reading)
          let average = try bound.average(path(name), in: reading)
          #expect((average == nil) == values.isEmpty)
          guard case .int(let total) = sum else { continue }
          let expected = values.reduce(Int64(0)) { if case .int(let x) = $1 { $0 + x } else { $0 } }
          #expect(total == expected, "\(query) \(name) seed \(random.seed)")
          if let average { #expect(average == Double(expected) / Double(values.count)) }
        }
      }
    }
  }

  private func isNaN(_ value: Value) -> Bool {
    switch value {
    case .float(let x): x.isNaN
    case .double(let x): x.isNaN
    case .date(let x): x.isNaN
    default: false
    }
  }

  private func store(_ words: [Int64?]) throws -> (any ReadTransaction, Catalog) {
    let engine = try ReferenceBackend().open(OpenOptions())
    let catalog = try engine.adopt(
      Schema([ObjectSchema("N", .scalar("i", .int64, optional: true), .scalar("d", .double, optional: true), .scalar("s", .string))]))
    let table = try #require(catalog["N"])
    try engine.write { write in
      for word in words { try write.insert(table, word.map { ["i": .int($0), "d": .double(Double($0))] } ?? [:]) }
    }
    return (try engine.beginRead(), catalog)
  }

  @Test func sumsThatLeaveInt64AreAnErrorWhateverTheOrder() throws {
    let (reading, catalog) = try store([.max, 1, nil])
    let bound = try BoundQuery(Query(type: "N"), in: catalog)
    #expect(throws: QueryError.self) { try bound.sum(PropertyPath("i"), in: reading) }
    do throws(QueryError) { _ = try bound.sum(PropertyPath("i"), in: reading) } catch { #expect(error.code == .overflow) }
    #expect(try bound.average(PropertyPath("i"), in: reading) == 0x1p62)
    let (balanced, other) = try store([.max, 1, .min, .max])
    #expect(try BoundQuery(Query(type: "N"), in: other).sum(PropertyPath("i"), in: balanced) == .int(.max))
  }

  @Test func overNothingTheSumIsZeroAndTheRestIsMissing() throws {
    let (reading, catalog) = try store([nil, nil])
    let bound = try BoundQuery(Query(type: "N"), in: catalog)
    #expect(try bound.sum(PropertyPath("i"), in: reading) == .int(0))
    #expect(try bound.sum(PropertyPath("d"), in: reading) == .double(0))
    #expect(try bound.average(PropertyPath("i"), in: reading) == nil)
    #expect(try bound.min(PropertyPath("d"), in: reading) == .null)
    #expect(try bound.max(PropertyPath("i"), in: reading) == .null)
  }

  @Test func sumsOfDoublesDoNotDependOnHowRowsAreDelivered() throws {
    // Every transaction of the plain engine cuts its batches differently.
    var random = SeededGenerator.forTest()
    let engine = try ReferenceBackend().open(OpenOptions())
    let catalog = try engine.adopt(Schema([ObjectSchema("N", .scalar("d", .double), .scalar("k", .int64, indexed: true))]))
    let table = try #require(catalog["N"])
    try engine.write { write in
      for i in 0..<3000 {
        try write.insert(table, ["d": .double(Double.random(in: -1e9...1e9, using: &random)), "k": .int(Int64(i % 500))])
      }
    }
    let all = try BoundQuery(Query(type: "N"), in: catalog)
    let sums = Set(try (0..<5).map { _ in try all.sum(path("d"), in: try engine.beginRead()) })
    #expect(sums.count == 1)
  }

  @Test func onlyNumbersAddUp() throws {
    let (reading, catalog) = try store([])
    let bound = try BoundQuery(Query(type: "N"), in: catalog)
    do throws(QueryError) { _ = try bound.sum(PropertyPath("s"), in: reading) } catch { #expect(error.code == .typeMismatch) }
    do throws(QueryError) { _ = try bound.sum(PropertyPath("x"), in: reading) } catch { #expect(error.code == .unknownProperty) }
    #expect(throws: QueryError.self) { try bound.min(PropertyPath("s"), in: reading) }
  }
}
