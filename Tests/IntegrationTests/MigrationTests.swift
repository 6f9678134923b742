import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Atlas {
  var places: LiveMap<Int>
  var names: LiveList<String>
}

@Suite struct MigrationTests {
  static let files: [Engine] = [.lmdb, .sqlite]
  private static let first: [any SchemaDescribing.Type] = [First.Citizen.self, First.Home.self, First.Relic.self]
  private static let second: [any SchemaDescribing.Type] = [
    Second.Citizen.self, Second.Home.self, Second.Relic.self, Second.Log.self,
  ]

  private func fill(_ configuration: Store.Configuration, count: Int = 20) throws {
    let store = try Store(configuration)
    try store.write {
      var before: First.Citizen?
      for id in 1...count {
        let citizen = First.Citizen(id: id, first: "F\(id)", last: "L\(id)", age: "\(id)", nick: id % 2 == 0 ? "N" : nil)
        citizen.friend = before
        citizen.marks = [id, id + 1]
        citizen.home = First.Home(street: "S\(id)")
        try store.add(citizen)
        before = citizen
      }
      try store.add(First.Relic(name: "old"))
      try store.add(First.Home(street: "nobody's"))
    }
  }

  private func migrating(_ file: URL, _ engine: Engine) -> Store.Configuration {
    var configuration = engine.configuration(file, Self.second)
    configuration.schemaVersion = 2
    configuration.migration = { migration, oldVersion in
      #expect(oldVersion == 0)
      try migration.enumerateObjects(ofType: "Citizen") { old, new in
        try new?.set("name", to: .string("\(old["first"]) \(old["last"])"))
      }
      try migration.renameProperty(onType: "Citizen", from: "marks", to: "grades")
      try migration.deleteData(forType: "Relic")
      try migration.create("Log", ["text": .string("migrated")])
    }
    return configuration
  }

  @Test(arguments: files) func aMigrationBringsOldObjectsToNewModels(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    let store = try Store(migrating(directory.file(), engine))
    let citizens = store.objects(Second.Citizen.self)
    #expect(citizens.count == 20 && store.schemaVersion == 2)
    let second = try #require(store.object(Second.Citizen.self, forPrimaryKey: 2))
    #expect(second.name == "F2 L2" && second.age == 2 && second.nick == "N" && second.grades.toArray() == [2, 3])
    #expect(second.friend?.id == 1 && second.friend?.nick == "none" && second.home?.street == "S2")
    #expect(store.objects(Second.Home.self).count == 20 && store.objects(Second.Relic.self).isEmpty)
    #expect(store.objects(Second.Log.self).map(\.text) == ["migrated"])
    #expect(store.schema["Citizen"]?.properties.map(\.name).contains("first") == false)
    try store.write { try store.delete(second) }
    #expect(store.objects(Second.Home.self).count == 19)
  }

  @Test(arguments: files) func aMigratedFileOpensAgainWithoutTheBlock(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    _ = try Store(migrating(directory.file(), engine))
    var configuration = engine.configuration(directory.file(), Self.second)
    configuration.schemaVersion = 2
    configuration.migration = { _, _ in Issue.record("migrated twice") }
    let store = try Store(configuration)
    #expect(store.objects(Second.Citizen.self).where { $0.name == "F7 L7" }.first?.age == 7)
    #expect(try Store.dryRun(configuration).isEmpty)
  }

  @Test(arguments: files) func aMigrationThatThrowsLeavesTheFileAsItWas(engine: Engine) throws {
    struct Stop: Error {}
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    for step in [1, 7, 20] {
      var configuration = engine.configuration(directory.file(), Self.second)
      configuration.schemaVersion = 2
      configuration.migration = { migration, _ in
        var count = 0
        try migration.deleteData(forType: "Relic")
        try migration.enumerateObjects(ofType: "Citizen") { old, new in
          try new?.set("name", to: old["first"])
          count += 1
          if count == step { throw Stop() }
        }
      }
      let error = #expect(throws: StoreError.self) { try Store(configuration) }
      #expect(error?.code == .migrationFailed && error?.underlying is Stop)
    }
    let store = try Store(engine.configuration(directory.file(), Self.first))
    #expect(store.objects(First.Citizen.self).map(\.last) == (1...20).map { "L\($0)" } && store.schemaVersion == 0)
    #expect(store.objects(First.Relic.self).count == 1 && store.objects(First.Home.self).count == 21)
  }

  @Test(arguments: files) func duplicatesOfANewUniqueIndexAreFoundBeforeTheCommit(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    var configuration = engine.configuration(directory.file(), Self.second)
    configuration.schemaVersion = 2
    for name in ["first", "last", "marks"] { configuration.unlistedProperties["Citizen.\(name)"] = .remove }
    let error = #expect(throws: StoreError.self) { try Store(configuration) }
    #expect(error?.code == .uniqueViolation && error?.details["property"] == "name")
    #expect(try Store(engine.configuration(directory.file(), Self.first)).objects(First.Citizen.self).count == 20)
  }

  @Test(arguments: files) func aDryRunSaysWhatWouldBeAndWritesNothing(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    let report = try Store.dryRun(migrating(directory.file(), engine))
    #expect(report.failure == nil && report.versions == (0, 2) && report.changedObjects["Citizen"] == 20)
    #expect(report.changedObjects["Relic"] == 1 && report.changedObjects["Log"] == 1)
    #expect(report.steps.contains(.retiredProperty(type: "Citizen", property: "first")))
    #expect(report.steps.contains(.createdTable("Log")))
    var failing = engine.configuration(directory.file(), Self.second)
    failing.schemaVersion = 2
    for name in ["first", "last", "marks"] { failing.unlistedProperties["Citizen.\(name)"] = .remove }
    #expect((try Store.dryRun(failing).failure as? StoreError)?.code == .uniqueViolation)
    let store = try Store(engine.configuration(directory.file(), Self.first))
    #expect(store.objects(First.Citizen.self).count == 20 && store.version.rawValue == 2)
  }

  @Test(arguments: files) func anOlderProgramIsToldBothVersions(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    let older = try Store(engine.configuration(directory.file(), Self.first))
    let citizen = try #require(older.objects(First.Citizen.self).first)
    var heard = ""
    let tokens = [
      older.objects(First.Citizen.self).observe { if case .initial = $0 { heard += "c" } else { heard += "!" } },
      older.objects(First.Relic.self).observe { if case .initial = $0 { heard += "r" } else { heard += "!" } },
    ]
    older.refresh()
    _ = try Store(migrating(directory.file(), engine))
    // It reads on in its version, and cannot write. Who observes is told, once.
    older.refresh()
    older.refresh()
    #expect(heard == "cr!!")
    for token in tokens { token.stop() }
    #expect(citizen.first == "F1" && older.schemaVersion == 0)
    let refused = #expect(throws: StoreError.self) { try older.write { citizen.first = "X" } }
    #expect(refused?.code == .newerSchema)
    let error = #expect(throws: StoreError.self) { try Store(engine.configuration(directory.file(), Self.first)) }
    #expect(error?.code == .newerSchema && error?.details == ["fileVersion": "2", "programVersion": "0"])
  }

  /// Both ask for the same by name, and it is no longer the same.
  @Test(arguments: files) func aQuestionThatAnOlderProgramAsksTooIsAskedOfTheNewColumns(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    let older = try Store(engine.configuration(directory.file(), Self.first))
    var told: [StoreError.Code?] = []
    let olderToken = older.objects(First.Citizen.self).sorted(by: \.age).observe { change in
      if case .error(let error) = change { told.append(error.code) } else { told.append(nil) }
    }
    older.refresh()
    // The older program has had no turn yet when the newer one asks.
    let newer = try Store(migrating(directory.file(), engine))
    var ages: [Int] = []
    var changes: [[Int]] = []
    let newerToken = newer.objects(Second.Citizen.self).sorted(by: \.age).observe { change in
      ages = change.collection?.map(\.age) ?? []
      if case .update(_, let deletions, let insertions, _) = change { changes += [deletions, insertions] }
    }
    newer.refresh()
    #expect(ages == Array(1...20))
    let last = try #require(newer.object(Second.Citizen.self, forPrimaryKey: 20))
    try newer.write { last.age = 0 }
    newer.refresh()
    #expect(ages == Array(0...19) && changes == [[19], [0]])
    older.refresh()
    #expect(told == [nil, .newerSchema])
    try newer.write { last.age = 21 }
    newer.refresh()
    #expect(ages == Array(1...19) + [21] && told.count == 2)
    olderToken.stop()
    newerToken.stop()
  }

  @Test(arguments: files) func aMigrationByNameEndsWhatAnOlderProgramObservesToo(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    func open(_ names: [String]) throws -> Store {
      var configuration = engine.configuration(directory.file(), Self.first)
      configuration.migrations = names.map { NamedMigration($0) { _ in } }
      return try Store(configuration)
    }
    try fill(engine.configuration(directory.file(), Self.first))
    let older = try open(["a"])
    var errors: [StoreError] = []
    let token = older.objects(First.Relic.self).observe { if case .error(let error) = $0 { errors.append(error) } }
    older.refresh()
    // One that knows no names is no newer program.
    let unnamed = try Store(engine.configuration(directory.file(), Self.first))
    try unnamed.write { try unnamed.add(First.Relic(name: "new")) }
    older.refresh()
    #expect(errors.isEmpty && older.objects(First.Relic.self).count == 2)
    let newer = try open(["a", "b"])
    older.refresh()
    #expect(errors.map(\.code) == [.newerSchema] && errors.first?.details["migration"] == "b")
    #expect(throws: StoreError.self) { try older.write {} }
    try unnamed.write { try unnamed.add(First.Relic(name: "newest")) }
    newer.refresh()
    #expect(newer.objects(First.Relic.self).count == 3 && older.objects(First.Relic.self).count == 2)
    token.stop()
  }

  @Test(arguments: files) func namedMigrationsRunOnceInOrderAndAreRemembered(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    func open(_ names: [String]) throws -> Store {
      var configuration = engine.configuration(directory.file(), Self.first)
      configuration.migrations = names.map { name in
        NamedMigration(name) { migration in
          try migration.enumerateObjects(ofType: "Relic") { _, new in
            guard let new else { return }
            try new.set("name", to: .string("\(new["name"]) \(name)"))
          }
        }
      }
      return try Store(configuration)
    }
    #expect(try open(["a"]).objects(First.Relic.self).first?.name == "old a")
    let store = try open(["a", "b", "c"])
    #expect(store.objects(First.Relic.self).first?.name == "old a b c")
    #expect(store.completedMigrations.map(\.name) == ["a", "b", "c"])
    #expect(store.completedMigrations.allSatisfy { $0.timeMilliseconds > 0 })
    #expect(store.hasCompleted("b") && !store.hasCompleted("d"))
    let error = #expect(throws: StoreError.self) { try open(["a"]) }
    #expect(error?.code == .newerSchema && error?.details["migration"] == "b")
  }

  @Test(arguments: files) func mapsAndListsOfNewObjectsAreEdited(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    var configuration = engine.configuration(directory.file(), Self.first + [Atlas.self])
    configuration.migrations = [
      NamedMigration("atlas") { migration in
        let atlas = try migration.create("Atlas", [:])
        try atlas.set("places", to: ["b": .int(2), "a": .int(1)])
        try atlas.set("places", to: ["c": .int(3), "a": .int(4)])
        try atlas.set("names", to: [.string("x"), .string("y")])
        try atlas.edit("names", .remove(0..<1))
        try atlas.edit("names", .insert(at: 1, [.string("z")]))
        #expect { try atlas.edit("names", .set(at: 9, .string("n"))) } throws: { StoreError.Code.indexOutOfRange ~= $0 }
        #expect { try atlas.set("places", to: ["a": Value.string("n")]) } throws: { StoreError.Code.typeMismatch ~= $0 }
        #expect { try atlas.set("names", to: ["a": Value.string("n")]) } throws: { StoreError.Code.unknownProperty ~= $0 }
        #expect { try atlas.edit("places", .clear) } throws: { StoreError.Code.unknownProperty ~= $0 }
      }
    ]
    let atlas = try #require(try Store(configuration).objects(Atlas.self).first)
    #expect(atlas.places.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" } == ["a4", "c3"])
    #expect(atlas.names.toArray() == ["y", "z"])
  }

  @Test(arguments: files) func whatCannotBeCreatedWithAllItsValuesIsNotCreated(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    var configuration = engine.configuration(directory.file(), [Second.Log.self, First.Citizen.self, First.Home.self])
    configuration.schemaVersion = 1
    configuration.migration = { migration, _ in
      // Set before the one that there is not, and behind it.
      for name in ["nope", "zero"] {
        #expect { try migration.create("Log", ["text": .string("lost"), name: .int(1)]) } throws: { StoreError.Code.unknownProperty ~= $0 }
      }
      #expect { try migration.create("Log", ["text": .int(1)]) } throws: { StoreError.Code.typeMismatch ~= $0 }
      #expect { try migration.create("Citizen", ["id": .int(5)]) } throws: { StoreError.Code.primaryKeyExists ~= $0 }
      #expect { try migration.create("Nobody", [:]) } throws: { StoreError.Code.unknownType ~= $0 }
      try migration.create("Log", ["text": .string("kept")])
    }
    let store = try Store(configuration)
    #expect(store.objects(Second.Log.self).map(\.text) == ["kept"])
    #expect(store.objects(First.Citizen.self).count == 20 && store.object(First.Citizen.self, forPrimaryKey: 5)?.first == "F5")
  }

  @Test(arguments: files) func aTypeCanGetAnotherName(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    var configuration = engine.configuration(directory.file(), [Third.Human.self])
    configuration.schemaVersion = 1
    configuration.renamedTypes = ["Citizen": "Human"]
    for name in ["last", "age", "nick", "marks", "home"] { configuration.unlistedProperties["Human.\(name)"] = .remove }
    let store = try Store(configuration)
    let human = try #require(store.object(Third.Human.self, forPrimaryKey: 5))
    #expect(human.first == "F5" && human.friend?.first == "F4" && store.objects(Third.Human.self).count == 20)
  }

  @Test(arguments: files) func whatOnlyAddsNeedsNoVersion(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    let store = try Store(engine.configuration(directory.file(), [Second.Log.self, First.Citizen.self, First.Home.self]))
    #expect(store.objects(Second.Log.self).isEmpty && store.objects(First.Citizen.self).count == 20)
    let error = #expect(throws: StoreError.self) { try Store(engine.configuration(directory.file(), Self.second)) }
    #expect(error?.code == .schemaMismatch)
  }

  @Test(arguments: files) func inDevelopmentAnOldFileCanBeDeleted(engine: Engine) throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first))
    var configuration = engine.configuration(directory.file(), Self.second)
    configuration.deletesIfMigrationNeeded = true
    #expect(try Store(configuration).objects(Second.Citizen.self).isEmpty)
  }

  @Test(arguments: files) func openingTellsItsProgressAndCanBeCancelled(engine: Engine) async throws {
    let directory = TemporaryDirectory("migration")
    try fill(engine.configuration(directory.file(), Self.first), count: 500)
    let configuration = migrating(directory.file(), engine)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      do throws(StoreError) {
        _ = try await Store.open(configuration) { _ in }
        return nil as StoreError.Code?
      } catch {
        return error.code
      }
    }
    #expect(await cancelled.value == .cancelled)
    let (reports, continuation) = AsyncStream.makeStream(of: MigrationProgress.self)
    let store = try await Store.open(configuration) { continuation.yield($0) }
    continuation.finish()
    var last = 0
    for await report in reports {
      #expect(report.done > last && report.total >= report.done)
      last = report.done
    }
    #expect(last >= 500 && store.objects(Second.Citizen.self).count == 500)
  }
}
