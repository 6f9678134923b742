import QueryEngine
import QueryModel
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

/// What a question may cost where relationships and collections multiply.
@Suite struct BoundedWorkTests {
  /// Forty people, each of whom knows all of them.
  private func crowd() throws -> (engine: any StorageEngine, catalog: Catalog) {
    let engine = try MemoryBackend().open(OpenOptions())
    let catalog = try engine.adopt(
      Schema([
        ObjectSchema(
          "Person", .scalar("n", .int64), .list("friends", ofLinksTo: "Person"), .list("a", of: .int64), .list("b", of: .int64))
      ]))
    let people = try #require(catalog["Person"])
    try engine.write { write in
      let keys = try (0..<40).map { try write.insert(people, ["n": .int(Int64($0))]) }
      for key in keys { try write.edit(people.column(named: "friends"), key, .insert(at: 0, keys.map { .link($0) })) }
      let many = (0..<1_100).map { Value.int(Int64($0)) }
      try write.edit(people.column(named: "a"), keys[0], .insert(at: 0, many))
      try write.edit(people.column(named: "b"), keys[0], .insert(at: 0, many))
    }
    return (engine, catalog)
  }

  /// 40 to the power of 12 ways lead from one to another.
  @Test func aPathOverManyRelationshipsIsNoLongerThanItsTable() throws {
    let (engine, catalog) = try crowd()
    defer { engine.close() }
    let reading = try engine.beginRead()
    let path = Array(repeating: "friends", count: 12).joined(separator: ".")
    for (condition, count) in [("\(path).n == 39", 40), ("ALL \(path).n < 40", 40), ("NONE \(path).n == 39", 0), ("ANY \(path).n IN {50, 3}", 40)] {
      let bound = try BoundQuery(Query(type: "Person", parsing: "n < 2 AND \(condition)"), in: catalog)
      #expect(try bound.count(in: reading) == min(count, 2), "\(condition)")
    }
    // How often somebody is reached still counts where it is asked.
    let counted = try BoundQuery(Query(type: "Person", parsing: "friends.friends.@count == 40"), in: catalog)
    #expect(try counted.count(in: reading) == 40)
  }

  @Test func pairsOfTwoCollectionsAreBounded() throws {
    let (engine, catalog) = try crowd()
    defer { engine.close() }
    let reading = try engine.beginRead()
    let some = try BoundQuery(Query(type: "Person", parsing: "n > 0 AND a + b == 3"), in: catalog)
    #expect(try some.count(in: reading) == 0)
    let many = try BoundQuery(Query(type: "Person", parsing: "a + b == 3"), in: catalog)
    do throws(StorageError) {
      _ = try many.count(in: reading)
      Issue.record("a million pairs were made")
    } catch { #expect(error.code == .tooLarge) }
    #expect(try BoundQuery(Query(type: "Person", parsing: "a.@sum + b == 604450"), in: catalog).count(in: reading) == 1)
  }

  @Test func aDecimalThatIsListedTwiceIsFoundOnce() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    defer { engine.close() }
    let catalog = try engine.adopt(Schema([ObjectSchema("Item", .scalar("price", .decimal, indexed: true))]))
    let table = try #require(catalog["Item"])
    try engine.write { write in for n in 0..<200 { try write.insert(table, ["price": .decimal(Decimal128(n) / Decimal128(10))]) } }
    let reading = try engine.beginRead()
    let bound = try BoundQuery(Query(type: "Item", parsing: "price IN {2.5, 2.50, decimal(2.500), 3, 3.0}"), in: catalog)
    #expect(try bound.keys(in: reading) == [26, 31])
    #expect(try bound.count(in: reading) == 2)
    // A float beside a decimal is the decimal that it is written as, with an index and without.
    #expect(try BoundQuery(Query(type: "Item", parsing: "price == 0.1f"), in: catalog).keys(in: reading) == [2])
    #expect(try BoundQuery(Query(type: "Item", parsing: "price IN {0.1f, 0.2f}"), in: catalog).keys(in: reading) == [2, 3])
  }
}
