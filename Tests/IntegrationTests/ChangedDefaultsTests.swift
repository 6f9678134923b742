import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// Existing objects get the declared default of a new property, each its own, or the file is refused.
@Suite struct ChangedDefaultsTests {
  private static let files: [Engine] = [.lmdb, .sqlite]

  private func fill(_ file: URL, _ engine: Engine) throws {
    let store = try Store(engine.configuration(file, [BareRooms.Room.self, BareRooms.Shelf.self]))
    try store.write {
      for id in 1...3 {
        let room = BareRooms.Room(id: id)
        room.codes = [id]
        try store.add(room)
        try store.add(BareRooms.Shelf(id: id))
      }
    }
  }

  private func configuration(
    _ file: URL, _ engine: Engine, _ models: [any SchemaDescribing.Type], version: UInt64,
    _ migration: (@Sendable (Migration, UInt64) throws -> Void)? = nil
  ) -> Store.Configuration {
    var configuration = engine.configuration(file, models)
    configuration.schemaVersion = version
    configuration.migration = migration
    return configuration
  }

  private func faults(_ configuration: Store.Configuration) -> String {
    let error = #expect(throws: StoreError.self) { try Store(configuration) }
    #expect(error?.code == .schemaMismatch)
    return error?.details["faults"] ?? ""
  }

  @Test(arguments: files, [UInt64(0), 1]) func collectionsAreFilled(engine: Engine, version: UInt64) throws {
    let directory = TemporaryDirectory("defaults")
    try fill(directory.file(), engine)
    let furnished = configuration(
      directory.file(), engine, [FurnishedRooms.Room.self, FurnishedRooms.Shelf.self], version: version)
    let report = try Store.dryRun(furnished)
    #expect(report.failure == nil && report.changedObjects == ["Room": 3, "Shelf": 3])
    func change(_ property: String) -> PropertyOutcome.Change? {
      report.outcomes.first { $0.type == "Room" && $0.property == property }?.change
    }
    #expect(change("tags") == .added(.list([.string("b"), .string("a"), .string("b")])) && change("none") == .added(.list([])))
    #expect(change("prices") == .added(.map(ValueMap([ValueMap.Entry("bed", .double(1.5))]))))
    if case .addedForEach(.list) = try #require(change("tokens")) {} else { Issue.record("\(report.outcomes)") }
    let store = try Store(furnished)
    for room in store.objects(FurnishedRooms.Room.self) {
      #expect(room.codes.toArray() == [room.id] && room.tags.toArray() == ["b", "a", "b"] && room.marks.toArray() == [1, 3])
      #expect(room.prices.count == 1 && room.prices["bed"] == 1.5 && room.places.toArray() == [Position(floor: 2, room: "x")])
      #expect(room.notes.toArray() == ["n", nil] && room.none.isEmpty)
    }
    #expect(Set(store.objects(FurnishedRooms.Room.self).flatMap { $0.tokens.toArray() }).count == 3)
    let shelf = FurnishedRooms.Shelf(id: 2)
    #expect(shelf.tags == ["b", "a"] && store.value(FurnishedRooms.Shelf.self, forPrimaryKey: 2) == shelf)
    // Once: what is emptied stays empty.
    try store.write { for room in store.objects(FurnishedRooms.Room.self) { room.tags.removeAll() } }
    #expect(try Store(furnished).objects(FurnishedRooms.Room.self).allSatisfy { $0.tags.isEmpty && $0.marks.count == 2 })
  }

  @Test(arguments: files, [UInt64(0), 1]) func objectsAreRefused(engine: Engine, version: UInt64) throws {
    let directory = TemporaryDirectory("defaults")
    try fill(directory.file(), engine)
    let models: [any SchemaDescribing.Type] = [OwnedRooms.Room.self, OwnedRooms.Desk.self, OwnedRooms.Chair.self]
    let owned = configuration(directory.file(), engine, models, version: version)
    let faults = faults(owned)
    for word in ["Room.desk", "Room.chairs", "3 objects", "set it in a migration"] { #expect(faults.contains(word), "\(faults)") }
    #expect(try Store.dryRun(owned).outcomes.map(\.change) == [.addedWithoutValue, .addedWithoutValue])
    let store = try Store(engine.configuration(directory.file(), [BareRooms.Room.self]))
    #expect(store.objects(BareRooms.Room.self).map { $0.codes.toArray() } == [[1], [2], [3]] && store.schemaVersion == 0)
  }

  @Test(arguments: files) func aMigrationGivesEachItsObjects(engine: Engine) throws {
    let directory = TemporaryDirectory("defaults")
    try fill(directory.file(), engine)
    let models: [any SchemaDescribing.Type] = [OwnedRooms.Room.self, OwnedRooms.Desk.self, OwnedRooms.Chair.self]
    let forgetful = configuration(directory.file(), engine, models, version: 1) { migration, _ in
      try migration.enumerateObjects(ofType: "Room") { old, new in
        if old["id"] != .int(3) { try new?.set("desk", to: .null) }
        try new?.set("chairs", to: [Value]())
      }
    }
    let faults = faults(forgetful)
    #expect(faults.contains("Room.desk") && faults.contains("1 object needs") && !faults.contains("Room.chairs"), "\(faults)")
    let store = try Store(
      configuration(directory.file(), engine, models, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Room") { old, new in
          let desk: Value = old["id"] == .int(2) ? .null : .link(try migration.create("Desk", ["width": .int(9)]).key)
          try new?.set("desk", to: desk)
          try new?.set("chairs", to: [Value.link(try migration.create("Chair").key)])
        }
      })
    let rooms = store.objects(OwnedRooms.Room.self)
    #expect(rooms.map { $0.desk?.width } == [9, nil, 9] && rooms.map(\.chairs.count) == [1, 1, 1])
    // What a migration creates has its defaults.
    #expect(rooms.first?.desk?.drawers.toArray() == [1, 2] && store.objects(OwnedRooms.Desk.self).count == 2)
  }

  @Test(arguments: files) func whatAMigrationCreatesNeedsItsObjectsToo(engine: Engine) throws {
    let directory = TemporaryDirectory("defaults")
    let models: [any SchemaDescribing.Type] = [OwnedRooms.Room.self, OwnedRooms.Desk.self, OwnedRooms.Chair.self]
    _ = try Store(engine.configuration(directory.file(), models))
    let creating = configuration(directory.file(), engine, models, version: 1) { migration, _ in
      try migration.create("Room", ["id": .int(1), "desk": .null])
    }
    let faults = faults(creating)
    #expect(faults.contains("Room.chairs") && faults.contains("1 object needs") && !faults.contains("Room.desk"), "\(faults)")
  }

  @Test(arguments: files, [UInt64(0), 1]) func whatIsZeroTheFirstTimeIsEvaluatedForEach(engine: Engine, version: UInt64) throws {
    let directory = TemporaryDirectory("defaults")
    try fill(directory.file(), engine)
    let ranked = configuration(directory.file(), engine, [RankedRooms.Room.self], version: version)
    let outcomes = try Ranks.$current.withValue(Ranks()) { try Store.dryRun(ranked).outcomes }
    #expect(outcomes.count == 3)
    for outcome in outcomes { if case .addedForEach = outcome.change {} else { Issue.record("\(outcome)") } }
    let store = try Ranks.$current.withValue(Ranks()) { try Store(ranked) }
    let rooms = store.objects(RankedRooms.Room.self)
    #expect(Set(rooms.map(\.rank) + rooms.map(\.place) + rooms.map(\.steps.count)).count == 9)
  }

  @Test(arguments: files) func elementsThatAreRenamedTakeThePlaceOfTheDefault(engine: Engine) throws {
    let directory = TemporaryDirectory("defaults")
    try fill(directory.file(), engine)
    let store = try Store(
      configuration(directory.file(), engine, [RecodedRooms.Room.self], version: 1) { migration, _ in
        try migration.renameProperty(onType: "Room", from: "codes", to: "numbers")
        try migration.create("Room", ["id": .int(4)])
      })
    #expect(store.objects(RecodedRooms.Room.self).map { $0.numbers.toArray() } == [[1], [2], [3], [9]])
  }
}

/// What is created from values by name has the defaults of those that are not given, also links and collections.
@Suite struct CreatedDefaultsTests {
  private static let models: [any SchemaDescribing.Type] = [OwnedRooms.Room.self, OwnedRooms.Desk.self, OwnedRooms.Chair.self]

  @Test(arguments: Engine.allCases) func anOmittedLinkOrCollectionHasItsDefault(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write {
      _ = try store.create(OwnedRooms.Room.self, value: ["id": 1])
      _ = try store.create(OwnedRooms.Room.self, value: ["id": 2, "desk": nil, "chairs": [Any?]()])
      _ = try store.create(OwnedRooms.Room.self, value: ["id": 3, "desk": ["width": 8], "chairs": [["legs": 3], ["legs": 5]]])
      _ = try store.create(OwnedRooms.Room.self, json: Data(#"{"id": 4, "codes": [1]}"#.utf8))
      _ = try store.dynamicCreate("Room", ["id": .int(5)])
      _ = try store.dynamicCreate("Room", ["id": .int(6), "desk": .null])
    }
    func found(_ id: Int) throws -> OwnedRooms.Room { try #require(store.object(OwnedRooms.Room.self, forPrimaryKey: id)) }
    for id in [1, 4, 5] {
      let room = try found(id)
      #expect(room.desk?.width == 7 && room.desk?.drawers.toArray() == [1, 2] && room.chairs.map(\.legs) == [4], "\(id)")
    }
    #expect(try found(2).desk == nil && found(2).chairs.isEmpty)
    #expect(try found(3).desk?.width == 8 && found(3).desk?.drawers.toArray() == [1, 2] && found(3).chairs.map(\.legs) == [3, 5])
    #expect(try found(6).desk == nil && found(6).chairs.count == 1)
    // An update keeps what is not given, and adds nothing.
    let count = store.objects(OwnedRooms.Chair.self).count
    try store.write {
      try found(1).chairs.removeAll()
      _ = try store.create(OwnedRooms.Room.self, value: ["id": 1, "codes": [7]], update: .modified)
    }
    #expect(try found(1).chairs.isEmpty && found(1).codes.toArray() == [7] && store.objects(OwnedRooms.Chair.self).count == count)
  }

  @Test(arguments: Engine.allCases) func aDefaultThatCannotBeAddedLeavesNothing(engine: Engine) throws {
    let (configuration, directory) = engine.place([LabelledRooms.Room.self, LabelledRooms.Label.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write {
      #expect { try store.create(LabelledRooms.Room.self, value: ["id": 1]) } throws: { StoreError.Code.uniqueViolation ~= $0 }
      #expect { try store.dynamicCreate("Room", ["id": .int(1)]) } throws: { StoreError.Code.uniqueViolation ~= $0 }
      #expect(store.objects(LabelledRooms.Room.self).isEmpty && store.objects(LabelledRooms.Label.self).isEmpty)
      _ = try store.create(LabelledRooms.Room.self, value: ["id": 1, "back": nil])
    }
    #expect(store.objects(LabelledRooms.Room.self).count == 1 && store.objects(LabelledRooms.Label.self).count == 1)
  }
}
