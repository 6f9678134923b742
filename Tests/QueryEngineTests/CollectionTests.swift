import QueryEngine
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct CollectionTests {
  private let engine: any StorageEngine
  private let catalog: Catalog

  /// People 1 to 4 with dogs of ages (3, 7), none, (null), (3, 3) and numbers (1, 2), none, (null), (5).
  init() throws {
    engine = try ReferenceBackend().open(OpenOptions())
    catalog = try engine.adopt(
      Schema([
        ObjectSchema("Person", .scalar("name", .string), .list("dogs", ofLinksTo: "Dog"), .list("nums", of: .int64, optional: true), .list("tags", of: .string), .link("boss", to: "Person")),
        ObjectSchema("Dog", .scalar("age", .int64, optional: true), .inverse("owners", of: "Person", "dogs")),
      ]))
    let (people, dogs) = (try #require(catalog["Person"]), try #require(catalog["Dog"]))
    try engine.write { write in
      let ages: [Value] = [.int(3), .int(7), .null]
      let kennel = try ages.map { try write.insert(dogs, $0.isNull ? [:] : ["age": $0]) }
      let owned = [[0, 1], [], [2], [0, 0]]
      let numbers: [[Value]] = [[.int(1), .int(2)], [], [.null], [.int(5)]]
      for i in 0..<4 {
        let key = try write.insert(people, ["name": .string("p\(i)")])
        if !owned[i].isEmpty { try write.edit(people.column(named: "dogs"), key, .insert(at: 0, owned[i].map { .link(kennel[$0]) })) }
        if !numbers[i].isEmpty { try write.edit(people.column(named: "nums"), key, .insert(at: 0, numbers[i])) }
        if i > 0 { try write.set(people.column(named: "boss"), key, word: 1) }
      }
    }
  }

  private func keys(_ condition: String, of type: String = "Person") throws -> [Int64] {
    let reading = try engine.beginRead()
    defer { reading.end() }
    return try BoundQuery(Query(type: type, parsing: condition), in: catalog).keys(in: reading)
  }

  @Test(arguments: [
    ("ANY dogs.age > 3", [1]), ("dogs.age > 3", [1]), ("ALL dogs.age == 3", [2, 4]), ("NONE dogs.age == 3", [2, 3]),
    ("dogs.age == nil", [3]), ("dogs.age != 3", [1, 3]), ("NOT dogs.age == 3", [2, 3]), ("ANY dogs.age IN {7, 8}", [1]),
    ("dogs.age BETWEEN {4, 8}", [1]), ("dogs.age > 5 AND dogs.age < 5", [1]), ("nums == 5", [4]),
    ("nums == {1, 2}", [1]), ("2 IN nums", [1]), ("ALL nums > 1", [2, 4]), ("nums + 1 == 3", [1]), ("nums[0] == 1", [1]),
    ("nums[LAST] == 2", [1]), ("boss.dogs.age == 7", [2, 3, 4]), ("name == ANY {'p1', 'p3'}", [2, 4]), ("name == NONE {'p1', 'p3'}", [1, 3]),
    ("nums[*] == 5", [4]), ("name.@count == 2", [1, 2, 3, 4]),
  ] as [(String, [Int64])])
  func quantifiersGoOverElements(_ condition: String, _ expected: [Int64]) throws {
    #expect(try keys(condition) == expected)
  }

  @Test(arguments: [
    ("dogs.@count == 2", [1, 4]), ("dogs.@count == 0", [2]), ("nums.@size > 1", [1]), ("dogs.@sum.age == 0", [2, 3]),
    ("dogs.@sum.age == 6", [4]), ("dogs.@min.age == nil", [2, 3]), ("dogs.@max.age == 7", [1]), ("dogs.@avg.age == 5", [1]),
    ("nums.@sum == 3", [1]), ("nums.@avg == 1.5", [1]), ("dogs.@count * 2 > nums.@count + 1", [1, 4]),
    ("SUBQUERY(dogs, $d, $d.age > 2 AND $d.age < 5).@count == 2", [4]), ("@links.Person.boss.@count == 3", [1]),
    ("SUBQUERY(dogs, $d, $d.owners.@count > 2).@count > 0", [1, 4]),
  ] as [(String, [Int64])])
  func collectionsAreAggregated(_ condition: String, _ expected: [Int64]) throws {
    #expect(try keys(condition) == expected)
  }

  @Test func inversesAreCollections() throws {
    #expect(try keys("owners.name == 'p3'", of: "Dog") == [1])
    #expect(try keys("ALL owners.name == 'p0'", of: "Dog") == [2])
    #expect(try keys("owners.@count > 1", of: "Dog") == [1])
  }

  @Test(arguments: [
    ("ANY name == 'x'", QueryError.Code.needsCollection), ("age.@count > 1", .unknownProperty), ("dogs == nil", .typeMismatch),
    ("dogs.@sum.owners > 1", .typeMismatch), ("tags.@sum > 1", .typeMismatch), ("dogs.age == 'x'", .typeMismatch), ("dogs.missing == 1", .unknownProperty),
    ("SUBQUERY(boss, $b, $b.name == 'x').@count > 0", .typeMismatch), ("dogs.age LIKE 'x'", .typeMismatch),
    ("$x.name == 'a'", .unknownProperty),
  ] as [(String, QueryError.Code)])
  func mistakesHaveTheirCodes(_ condition: String, _ expected: QueryError.Code) {
    do throws(QueryError) {
      _ = try BoundQuery(Query(type: "Person", parsing: condition), in: catalog)
      Issue.record("\(condition) was bound")
    } catch { #expect(error.code == expected, "\(error)") }
  }

  @Test func whatIsReadThroughCollectionsIsNamed() throws {
    let bound = try BoundQuery(Query(type: "Person", parsing: "ANY dogs.age > 3"), in: catalog)
    let (people, dogs) = (try #require(catalog["Person"]), try #require(catalog["Dog"]))
    #expect(bound.readProperties == [people.column(named: "dogs"), dogs.column(named: "age")])
    #expect(bound.followsLinks)
  }
}
