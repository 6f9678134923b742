import Foundation
import StoreValues
import Testing

@testable import StorageInterface

/// A catalog comes in by several doors, and none lets one in that no build has written.
@Suite struct CatalogSoundnessTests {
  private func catalog() throws -> Catalog {
    try Catalog().adopting(
      Schema([
        ObjectSchema(
          name: "A",
          properties: [
            PropertySchema(name: "x", kind: .scalar(.int64), isIndexed: true),
            PropertySchema(name: "y", kind: .scalar(.string), isFullText: true),
            PropertySchema(name: "list", kind: .list(.int64)),
          ]),
        ObjectSchema(name: "B", properties: [PropertySchema(name: "x", kind: .scalar(.int64), isUnique: true)]),
      ])
    ).catalog
  }

  /// Each change makes another thing be there twice, or lead nowhere.
  private static let faults: [@Sendable (inout Catalog) -> Void] = [
    { $0.tables.append($0.tables[0]) },
    { $0.tables[1].name = $0.tables[0].name },
    { $0.tables[0].columns.append($0.tables[0].columns[1]) },
    { $0.tables[0].columns[1].schema.name = "x" },
    { $0.tables[0].indexes.append($0.tables[0].indexes[0]) },
    { $0.tables[1].indexes.append($0.tables[0].indexes[0]) },
    { $0.tables[0].textIndexes.append($0.tables[0].textIndexes[0]) },
    { $0.nextTable = 1 },
    { $0.nextIndex = 2 },
    { $0.tables[0].nextProperty = 0 },
    { $0.tables[0].indexes[0] = IndexEntry(id: $0.tables[0].indexes[0].id, properties: [], isUnique: false) },
    { $0.tables[0].indexes[0] = IndexEntry(id: $0.tables[0].indexes[0].id, properties: [PropertyID(99)], isUnique: false) },
    { $0.tables[0].indexes[0] = IndexEntry(id: $0.tables[0].indexes[0].id, properties: [PropertyID(3)], isUnique: false) },
    { $0.tables[0].indexes[0] = IndexEntry(id: $0.tables[0].indexes[0].id, properties: [PropertyID(1), PropertyID(1)], isUnique: false) },
    { $0.tables[0].textIndexes = [TextIndexEntry(id: $0.tables[0].textIndexes[0].id, property: PropertyID(1), rules: 1)] },
  ]

  @Test(arguments: faults.indices) func anUnsoundCatalogIsDecodedByNobody(_ i: Int) throws {
    var catalog = try catalog()
    #expect(catalog.fault == nil)
    Self.faults[i](&catalog)
    #expect(catalog.fault != nil)
    let json = try JSONEncoder().encode(catalog)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Catalog.self, from: json) }
    #expect(throws: (any Error).self) { try Array(json).withUnsafeBytes { try Catalog(json: $0) } }
  }

  @Test func aSoundCatalogIsDecodedAsItWas() throws {
    var catalog = try catalog()
    catalog.schemaVersion = 3
    catalog.completedMigrations = [CompletedMigration(name: "m", timeMilliseconds: 5)]
    #expect(try JSONDecoder().decode(Catalog.self, from: JSONEncoder().encode(catalog)) == catalog)
  }
}
