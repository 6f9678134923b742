import Foundation
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct MigrateProgramTests {
  private func makeStore(_ kind: FileKind, _ url: URL, _ properties: [PropertySchema]) throws {
    let engine = try kind.backend(url).open(OpenOptions())
    defer { engine.close() }
    let write = try engine.beginWrite(.never)
    defer { write.end() }
    let schema = Schema([ObjectSchema(name: "Item", properties: properties)])
    try write.setCatalog(write.catalog.adopting(schema).catalog)
    let row = RowBuffer(try #require(write.catalog["Item"]))
    row.set(0, .string("x"))
    for _ in 0..<2 { _ = try write.insert(row) }
    _ = try write.commit(CommitRecord(), .relaxed)
  }

  @Test(arguments: FileKind.allCases) func aDryRunTellsWhatAnotherStoresTypesWouldDo(kind: FileKind) throws {
    let directory = TemporaryDirectory("migrate")
    let (old, new) = (directory.file("old"), directory.file("new"))
    try makeStore(kind, old, [PropertySchema(name: "name", kind: .scalar(.string))])
    try makeStore(
      kind, new, [PropertySchema(name: "name", kind: .scalar(.string)), PropertySchema(name: "size", kind: .scalar(.int64))])
    let before = try InspectProcess(["info", old.path]).output
    let grown = try InspectProcess(["migrate", old.path, "--dry-run", "--like", new.path])
    #expect(grown.status == 0 && grown.output.contains("new property") && grown.output.contains("no migration is needed"))
    let json = try InspectProcess(["schema", new.path, "--format", "json"]).output
      .replacingOccurrences(of: "\"kind\": \"string\"", with: "\"kind\": \"int64\"")
    let schema = directory.file("schema.json")
    try Data(json.utf8).write(to: schema)
    let refused = try InspectProcess(["migrate", old.path, "--dry-run", "--schema", schema.path])
    #expect(refused.status == 6 && refused.errors.isEmpty && refused.output.contains("would fail"))
    let migrated = try InspectProcess([
      "migrate", old.path, "--dry-run", "--schema", schema.path, "--schema-version", "2", "--format", "csv",
    ])
    #expect(migrated.status == 0)
    #expect(migrated.output.contains("converted property,Item,name,2,from string; 2 cannot be converted: refused unless "))
    #expect(try InspectProcess(["info", old.path]).output == before)
  }

  /// The other store's enum lacks a case that the first one has in its data.
  @Test(arguments: FileKind.allCases) func aCaseThatAnotherStoreLacksIsToldAsOpeningWouldTellIt(kind: FileKind) throws {
    let directory = TemporaryDirectory("migrate")
    let (old, new) = (directory.file("old"), directory.file("new"))
    for (file, cases) in [(old, ["x", "y"]), (new, ["y"])] {
      let raw = cases.map { DefaultValue.bytes(Array($0.utf8)) }
      try makeStore(kind, file, [PropertySchema(name: "name", kind: .scalar(.string), cases: raw)])
    }
    let refused = try InspectProcess(["migrate", old.path, "--dry-run", "--like", new.path, "--format", "csv"])
    #expect(refused.status == 6 && refused.output.contains("would fail,Item,name,2,\"'x' is no case any more"), "\(refused)")
    let migrated = try InspectProcess(["migrate", old.path, "--dry-run", "--like", new.path, "--schema-version", "1"])
    #expect(migrated.status == 0 && migrated.output.contains("refused unless the migration sets them"), "\(migrated)")
  }

  @Test func whatCannotBeAskedIsSaidInOneLine() throws {
    let directory = TemporaryDirectory("migrate")
    let old = directory.file("old")
    try makeStore(.lmdb, old, [PropertySchema(name: "name", kind: .scalar(.string))])
    for arguments in [
      [], ["--dry-run"], ["--dry-run", "--like", old.path, "--schema", "-"], ["--dry-run", "--like", old.path, "--renamed", "A"],
      ["--dry-run", "--schema", "-"],
    ] {
      let run = try InspectProcess(["migrate", old.path] + arguments)
      #expect(run.status == 2 && run.complainedInOneLine, "\(arguments): \(run.errors)")
    }
    let missing = try InspectProcess(["migrate", old.path, "--dry-run", "--schema", directory.file("none").path])
    #expect(missing.status == 3 && missing.complainedInOneLine)
  }

  @Test(arguments: FileKind.allCases) func anExportOfRealmStudioIsImportedWithTheTypesOfAnotherStore(kind: FileKind) throws {
    let directory = TemporaryDirectory("realm")
    let (like, new, json) = (directory.file("like"), directory.file("new"), directory.file("realm.json"))
    try makeStore(kind, like, [PropertySchema(name: "name", kind: .scalar(.string)), PropertySchema(name: "size", kind: .scalar(.int64))])
    try Data(#"{"Item": [{"name": "a", "size": 3}, {"name": "b", "size": -1}]}"#.utf8).write(to: json)
    let made = try InspectProcess(["import", new.path, "--to", kind.rawValue, "--like", like.path, "--from", json.path])
    #expect(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
    #expect(try InspectProcess(["dump", new.path, "--format", "csv"]).output.contains("2,b,-1\r\n"))
    #expect(try InspectProcess(["verify", new.path]).status == 0)
    // Without types it is no export that is known.
    let refused = try InspectProcess(["import", directory.file("other").path, "--to", kind.rawValue, "--from", json.path])
    #expect(refused.status == 2 && refused.errors.hasPrefix("inspect: "))
  }
}
