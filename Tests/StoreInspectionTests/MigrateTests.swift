import Foundation
import StorageInterface
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// What `inspect migrate --dry-run` says, by the file and a schema alone.
@Suite struct MigrateTests {
  /// Prints the dry run, and the status it ends with.
  private func dryRun(
    _ kennel: Kennel, _ format: OutputFormat = .csv, version: UInt64? = nil, renamed: [String: String] = [:],
    _ change: (inout Schema) -> Void
  ) throws -> (text: String, status: CommandStatus) {
    var schema = try SchemaText.schema(Data(kennel.printed(.json) { try $0.schema() }.utf8))
    change(&schema)
    var status = CommandStatus.success
    let text = try kennel.printed(format) { inspector in
      do throws(InspectionError) {
        try inspector.migrationDryRun(to: schema, version: version, renamedTypes: renamed)
      } catch {
        status = error.status
      }
    }
    return (text, status)
  }

  @Test func aSchemaThatIsPrintedReadsAsItself() throws {
    let kennel = try Kennel()
    let read = try SchemaText.schema(Data(kennel.printed(.json) { try $0.schema() }.utf8))
    #expect(read == Kennel.schema)
    let rich = Schema([
      ObjectSchema(
        name: "Order",
        properties: [
          PropertySchema(name: "lines", kind: .list(.link), target: "Line", deleteRule: .cascade),
          PropertySchema(name: "byName", kind: .map(.link), isOptional: true, target: "Line"),
          PropertySchema(name: "tags", kind: .set(.string)),
          PropertySchema(name: "note", kind: .scalar(.string), isOptional: true, isIndexed: true, isFullText: true),
          PropertySchema(name: "extra", kind: .scalar(.mixed), isOptional: true),
          PropertySchema(name: "count", kind: .scalar(.int64), isIndexed: true, derivation: Derivation(.count, over: "lines")),
          PropertySchema(name: "total", kind: .scalar(.double), derivation: Derivation(.sum, of: "price", over: "lines")),
        ]),
      ObjectSchema(name: "Line", properties: [PropertySchema(name: "price", kind: .scalar(.double))], isEmbedded: true),
    ])
    let other = try Kennel(empty: rich)
    #expect(try SchemaText.schema(Data(other.printed(.json) { try $0.schema() }.utf8)) == rich)
    #expect(try other.printed(.table) { try $0.schema() }.contains("Line (embedded)"))
    #expect(try other.printed(.table) { try $0.schema() }.contains("indexed, full text"))
  }

  @Test func theSameSchemaChangesNothing() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel, .table) { _ in }
    #expect(text == "schema version 0\nnothing would change\n" && status == .success)
  }

  @Test func whatOnlyAddsIsToldAsThat() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel) { schema in
      schema.objects[0].properties.append(PropertySchema(name: "nick", kind: .scalar(.string), isOptional: true))
      schema.objects[1].properties[0].isIndexed = true
      schema.objects.append(ObjectSchema(name: "Cat", properties: []))
    }
    #expect(
      text == "change,type,property,objects,note\r\n"
        + "new property,Person,nick,3,\"each gets null, or the declared default\"\r\nnew index,Dog,weight,2,\r\nnew type,Cat,,,\r\n")
    #expect(status == .success)
    let table = try dryRun(kennel, .table) { $0.objects.append(ObjectSchema(name: "Cat", properties: [])) }
    #expect(table.text.hasSuffix("no migration is needed\n"))
  }

  @Test func whatNeedsAMigrationFailsWithoutAHigherVersion() throws {
    let kennel = try Kennel()
    let change = { (schema: inout Schema) in schema.objects[1].properties[0].kind = .scalar(.string) }
    let (text, status) = try dryRun(kennel, .ndjson, change)
    #expect(status == .refused && text.contains(#""change":"would fail","type":"Dog","property":"weight""#))
    let (later, fine) = try dryRun(kennel, .ndjson, version: 1, change)
    #expect(fine == .success && later.contains(#"{"change":"converted property","type":"Dog","property":"weight","objects":2"#))
  }

  @Test func aMigrationTellsWhatGoesAndWhatCannotBeConverted() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel, version: 3) { schema in
      schema.objects[0].properties[0].isPrimaryKey = false
      schema.objects[0].properties[0].kind = .scalar(.int64)
      schema.objects[0].properties.remove(at: 2)
      schema.objects[0].indexes = []
      schema.objects[1].properties.removeAll { $0.name == "photo" }
    }
    #expect(status == .success)
    #expect(text.contains("removed property,Person,best,1,their values go: refused unless the program says so\r\n"))
    #expect(text.contains("removed property,Dog,photo,1,their values go: refused unless the program says so\r\n"))
    #expect(text.contains("converted property,Person,name,3,from string; 3 cannot be converted: refused unless "))
  }

  @Test func whatLooksLikeARenameIsRefused() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel, .ndjson) { $0.objects[1].properties[0].name = "mass" }
    #expect(status == .refused && text.contains(#""change":"new property","type":"Dog","property":"mass","objects":2,"note":"each gets"#))
    #expect(text.contains(#""change":"would fail","type":"Dog","property":"weight","objects":2"#))
  }

  @Test func duplicatesOfANewUniqueIndexAreFound() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel) { $0.objects[1].properties[1].isUnique = true }
    #expect(status == .refused && text.contains("would fail,Dog,tag,1,1 object has the same value as another\r\n"))
    let (fine, none) = try dryRun(kennel) { $0.objects[1].properties[0].isUnique = true }
    #expect(none == .success && fine.contains("new unique index,Dog,weight,2,\r\n"))
  }

  @Test func aTypeThatBecomesEmbeddedTellsWhoIsSharedAndWhoIsAlone() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel, version: 1) { $0.objects[1].isEmbedded = true }
    #expect(status == .refused && text.contains("becomes embedded,Dog,,2,\r\n"))
    #expect(text.contains("would fail,Dog,,2,\"linked more than once"))
    let (alone, fine) = try dryRun(kennel, version: 1) { schema in
      schema.objects[2].isEmbedded = true
      schema.objects[2].properties[0].isPrimaryKey = false
      schema.objects[2].properties[0].isUnique = false
    }
    #expect(fine == .success && alone.contains("deleted objects,Chip,,1,nobody owns them\r\n"))
  }

  @Test func aRenamedTypeKeepsItsObjects() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel, version: 1, renamed: ["Chip": "Token"]) { $0.objects[2].name = "Token" }
    #expect(status == .success && text.contains("renamed type,Token,,1,was 'Chip'\r\n"))
  }

  @Test func theDryRunWritesNothing() throws {
    let kennel = try Kennel()
    let version = try kennel.engine.latestVersion()
    _ = try dryRun(kennel, version: 9) { $0.objects.removeAll() }
    _ = try dryRun(kennel, version: 9) { $0.objects[0].properties = [] }
    #expect(try kennel.engine.latestVersion() == version)
  }

  @Test(arguments: [
    "", "{}", "[1]", #"[{"type":"A"}]"#, #"[{"type":"A","properties":[{"name":"x"}]}]"#,
    #"[{"type":"A","properties":[{"name":"x","kind":"heap of int64"}]}]"#,
    #"[{"type":"A","properties":[{"name":"x","kind":"inverse","target":"B"}]}]"#,
    #"[{"type":"A","properties":[{"name":"x","kind":"string","deleteRule":"explode"}]}]"#,
  ])
  func whatIsNoSchemaIsAMistakeOfTheCall(text: String) throws {
    let error = #expect(throws: InspectionError.self) { try SchemaText.schema(Data(text.utf8)) }
    #expect(error?.status == .usage && error?.message.isEmpty == false)
  }

  @Test func aFaultySchemaIsToldWithItsFaults() throws {
    let kennel = try Kennel()
    let (text, status) = try dryRun(kennel) { schema in
      schema.objects[0].properties.append(PropertySchema(name: "cat", kind: .scalar(.link), isOptional: true, target: "Cat"))
    }
    #expect(status == .refused && text.contains("'Cat', which is not among the listed types"))
  }
}

/// Properties that a migration took out leave an empty column behind, which is nobody's business.
@Suite struct RetiredColumnTests {
  @Test func whatAMigrationTookOutIsNotShown() throws {
    let kennel = try Kennel()
    try Kennel.write(kennel.engine) { write in
      var schema = Kennel.schema
      schema.objects[0].properties.removeAll { $0.name == "friend" }
      let plan = try write.catalog.migrating(to: schema)
      var finished = plan.finished
      finished.schemaVersion = 1
      try write.setCatalog(finished)
    }
    for format in OutputFormat.allCases where format != .csv {
      let text = try kennel.printed(format) {
        try $0.schema()
        try $0.dump()
        try $0.get("Person", "Ann")
        try $0.info()
      }
      #expect(!text.contains("~") && !text.contains("friend"))
    }
    #expect(try kennel.printed(.csv) { try $0.schema() }.contains("~") == false)
    #expect(try kennel.printed(.csv) { try $0.dump(["Person"]) }.hasPrefix("#key,name,age,best,dogs\r\n"))
  }

  @Test func noPropertyMayHaveTheirName() {
    let schema = Schema([ObjectSchema(name: "A", properties: [PropertySchema(name: "~1", kind: .scalar(.bool))])])
    #expect(schema.faults().map(\.description) == ["A.~1: has a name that begins with '~', which no property can have"])
  }
}
