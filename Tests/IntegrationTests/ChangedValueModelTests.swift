import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// What holds for new properties of a class holds for those of a struct.
@Suite struct ChangedValueModelTests {
  static let files: [Engine] = [.lmdb, .sqlite]

  private func fill(_ file: URL, _ engine: Engine) throws {
    let store = try Store(engine.configuration(file, [FirstValues.Reading.self]))
    try store.write { try store.add([FirstValues.Reading(id: 1), FirstValues.Reading(id: 2)]) }
  }

  private func configuration(
    _ file: URL, _ engine: Engine, _ model: any SchemaDescribing.Type, version: UInt64 = 0,
    _ migration: (@Sendable (Migration, UInt64) throws -> Void)? = nil
  ) -> Store.Configuration {
    var configuration = engine.configuration(file, [model])
    configuration.schemaVersion = version
    configuration.migration = migration
    return configuration
  }

  @Test(arguments: files) func theValuesOfAFileGetTheDefaultsOfNewProperties(engine: Engine) throws {
    for version: UInt64 in [0, 1] {
      let directory = TemporaryDirectory("values")
      try fill(directory.file(), engine)
      let grown = configuration(directory.file(), engine, GrownValues.Reading.self, version: version)
      let outcomes = try Store.dryRun(grown).outcomes
      #expect(outcomes.map(\.property) == ["token", "kind", "timeout", "rank"])
      #expect(outcomes.dropFirst().map(\.change) == [.added(.string("normal")), .added(.int(300)), .added(.int(3))])
      if case .addedForEach(.uuid) = try #require(outcomes.first).change {} else { Issue.record("\(outcomes)") }
      let readings = Array(try Store(grown).values(GrownValues.Reading.self))
      #expect(readings.map(\.kind) == [.normal, .normal] && readings.map(\.timeout) == [300, 300] && readings.map(\.rank) == [3, 3])
      let none = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
      #expect(Set(readings.map(\.token) + [none]).count == 3)
    }
  }

  @Test(arguments: files) func aPropertyWithoutAValueIsRefusedUntilAMigrationSetsIt(engine: Engine) throws {
    let directory = TemporaryDirectory("values")
    try fill(directory.file(), engine)
    for version: UInt64 in [0, 1] {
      let needing = configuration(directory.file(), engine, NeedingValues.Reading.self, version: version)
      let error = #expect(throws: StoreError.self) { try Store(needing) }
      let faults = error?.details["faults"] ?? ""
      #expect(error?.code == .schemaMismatch && faults.contains("Reading.owner") && faults.contains("2 objects"), "\(faults)")
      #expect(try Store.dryRun(needing).outcomes.map(\.change) == [.addedWithoutValue])
    }
    let store = try Store(
      configuration(directory.file(), engine, NeedingValues.Reading.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Reading") { old, new in try new?.set("owner", to: .string("\(old["id"])")) }
      })
    #expect(store.values(NeedingValues.Reading.self).map(\.owner) == ["1", "2"])
  }

  @Test(arguments: files) func whatIsCreatedByNameGetsTheDefaultsToo(engine: Engine) throws {
    let directory = TemporaryDirectory("values")
    try fill(directory.file(), engine)
    let store = try Store(
      configuration(directory.file(), engine, GrownValues.Reading.self, version: 1) { migration, _ in
        try migration.create("Reading", ["id": .int(3)])
      })
    try store.write { _ = try store.dynamicCreate("Reading", ["id": .int(4)]) }
    let readings = store.values(GrownValues.Reading.self)
    #expect(readings.map(\.kind) == [.normal, .normal, .normal, .normal] && readings.map(\.timeout) == [300, 300, 300, 300])
    #expect(Set(readings.map(\.token)).count == 4)
  }
}
