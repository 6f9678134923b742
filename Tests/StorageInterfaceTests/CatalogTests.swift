import StorageInterface
import StoreValues
import Testing

@Suite struct CatalogTests {
  private let person = ObjectSchema(
    name: "Person",
    properties: [
      PropertySchema(name: "id", kind: .scalar(.uuid), isPrimaryKey: true),
      PropertySchema(name: "age", kind: .scalar(.int64), isIndexed: true),
    ])

  @Test func aNewSchemaGivesTablesColumnsAndIndexesNumbers() throws {
    let (catalog, steps) = try Catalog().adopting(Schema([person]))
    let table = try #require(catalog["Person"])
    #expect(table.columns.map(\.id.rawValue) == [1, 2])
    #expect(table.indexes.map(\.isUnique) == [true, false])
    #expect(steps == [.createdTable("Person")])
    #expect(try catalog.adopting(Schema([person])).steps.isEmpty)
  }

  @Test func addedPropertiesAndIndexesNeedNoMigrationAndKeepTheNumbers() throws {
    let (old, _) = try Catalog().adopting(Schema([person]))
    var grown = person
    grown.properties[1].isIndexed = false
    grown.properties.insert(PropertySchema(name: "name", kind: .scalar(.string), isIndexed: true), at: 0)
    let (new, steps) = try old.adopting(Schema([grown]))
    #expect(new["Person"]?["age"]?.id == old["Person"]?["age"]?.id)
    #expect(
      steps == [
        .addedProperty(type: "Person", property: "name"),
        .removedIndex(type: "Person", properties: ["age"], isUnique: false),
        .addedIndex(type: "Person", properties: ["name"], isUnique: false),
      ])
    #expect(new["Person"]?.indexes.map(\.id.rawValue) == [1, 3])
  }

  @Test func aChangedTypeIsAConflictAndAllConflictsAreListed() throws {
    let (old, _) = try Catalog().adopting(Schema([person]))
    var changed = person
    changed.properties[0].isPrimaryKey = false
    changed.properties[1].kind = .scalar(.string)
    let conflict = #expect(throws: CatalogConflict.self) { try old.adopting(Schema([changed])) }
    #expect(conflict?.faults.map(\.property) == ["id", "age"])
  }

  @Test func allFaultsOfASchemaAreListedAtOnce() {
    let bad = Schema([
      ObjectSchema(
        name: "A",
        properties: [
          PropertySchema(name: "b", kind: .scalar(.link), isOptional: true, target: "B"),
          PropertySchema(name: "b", kind: .scalar(.double), isPrimaryKey: true),
          PropertySchema(name: "inverse", kind: .linkingObjects(origin: "A", property: "x")),
        ])
    ])
    #expect(bad.faults().count == 4)
  }
}

@Suite struct CatalogStabilityTests {
  @Test func adoptingTheSameSchemaAgainChangesNothingAlsoAfterAChangedDefault() throws {
    var object = ObjectSchema(
      name: "A", properties: [PropertySchema(name: "n", kind: .scalar(.int64), defaultValue: .word(1))])
    let (first, _) = try Catalog().adopting(Schema([object]))
    object.properties[0].defaultValue = .word(2)
    let (second, steps) = try first.adopting(Schema([object]))
    #expect(second == first)
    #expect(steps.isEmpty)
  }
}
