import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// A schema that changes loses nothing: what would is refused until the program says what it wants.
@Suite struct ChangedModelTests {
  static let files: [Engine] = [.lmdb, .sqlite]

  private func fill(_ file: URL, _ engine: Engine, _ body: (Original.Guest) -> Void = { _ in }) throws {
    let store = try Store(engine.configuration(file, [Original.Guest.self]))
    try store.write {
      for id in 1...5 {
        let guest = Original.Guest(id: id, first: "F\(id)")
        body(guest)
        try store.add(guest)
      }
    }
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

  /// Refused with `.schemaMismatch` and these words; the file opens as before.
  private func expectRefused(_ configuration: Store.Configuration, _ file: URL, _ engine: Engine, _ words: [String]) throws {
    let error = #expect(throws: StoreError.self) { try Store(configuration) }
    #expect(error?.code == .schemaMismatch)
    for word in words { #expect(error?.details["faults"]?.contains(word) == true, "\(error.map { "\($0)" } ?? "opened"): '\(word)'") }
    #expect((try Store.dryRun(configuration).failure as? StoreError)?.code == .schemaMismatch)
    let store = try Store(engine.configuration(file, [Original.Guest.self]))
    #expect(store.objects(Original.Guest.self).map(\.first) == (1...5).map { "F\($0)" } && store.schemaVersion == 0)
  }

  @Test(arguments: files) func aRaisedVersionLetsNoPropertyWithoutAValueThrough(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine)
    try expectRefused(
      configuration(directory.file(), engine, Needing.Guest.self, version: 1), directory.file(), engine, ["Guest.owner", "5 objects"])
    // Set for all but one.
    try expectRefused(
      configuration(directory.file(), engine, Needing.Guest.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Guest") { old, new in
          if old["id"] != .int(3) { try new?.set("owner", to: old["first"]) }
        }
      }, directory.file(), engine, ["Guest.owner", "1 object"])
    let store = try Store(
      configuration(directory.file(), engine, Needing.Guest.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Guest") { old, new in try new?.set("owner", to: old["first"]) }
        try migration.create("Guest", ["id": .int(9), "owner": .string("new")])
      })
    #expect(store.objects(Needing.Guest.self).map(\.owner) == (1...5).map { "F\($0)" } + ["new"])
  }

  @Test(arguments: files) func whatAMigrationCreatesNeedsItsValuesToo(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine)
    try expectRefused(
      configuration(directory.file(), engine, Needing.Guest.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Guest") { _, new in try new?.set("owner", to: .string("o")) }
        try migration.create("Guest", ["id": .int(9)])
      }, directory.file(), engine, ["Guest.owner", "1 object"])
  }

  @Test(arguments: files) func aPropertyThatGoesWithItsDataIsRefused(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine) { if $0.id > 2 { $0.marks = [1] } }
    let raised = configuration(directory.file(), engine, Lacking.Guest.self, version: 1)
    try expectRefused(raised, directory.file(), engine, ["Guest.first", "5 objects", "Guest.marks", "3 objects", "@Renamed"])
    let error = #expect(throws: StoreError.self) { try Store(raised) }
    // What nobody gave a value is no loss.
    #expect(error?.details["faults"]?.contains("Guest.nick") == false)
    let store = try Store(
      configuration(directory.file(), engine, Lacking.Guest.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Guest") { old, _ in
          _ = old["first"]
          _ = old.elements("marks")
        }
      })
    #expect(store.objects(Lacking.Guest.self).count == 5)
  }

  @Test(arguments: files) func whatIsDeletedNeedsNoWordAboutItsValues(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine)
    let store = try Store(
      configuration(directory.file(), engine, Lacking.Guest.self, version: 1) { migration, _ in
        try migration.deleteData(forType: "Guest")
      })
    #expect(store.objects(Lacking.Guest.self).isEmpty)
  }

  @Test(arguments: files) func aForgottenRenameIsRefused(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine)
    let words = ["Guest.first", "5 objects", "@Renamed(from: \"first\")"]
    try expectRefused(configuration(directory.file(), engine, Forgetful.Guest.self), directory.file(), engine, words)
    try expectRefused(configuration(directory.file(), engine, Forgetful.Guest.self, version: 1), directory.file(), engine, words)
  }

  /// Nothing goes: who lists less sees less.
  @Test(arguments: files) func aProgramThatListsLessLeavesTheRest(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine)
    do {
      let store = try Store(configuration(directory.file(), engine, Lacking.Guest.self))
      try store.write { try store.add(Lacking.Guest(id: 6)) }
    }
    let store = try Store(engine.configuration(directory.file(), [Original.Guest.self]))
    #expect(store.objects(Original.Guest.self).map(\.first) == (1...5).map { "F\($0)" } + [""])
  }

  @Test(arguments: files) func aCaseThatIsGoneAndInTheDataIsRefused(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine) { guest in
      if guest.id > 3 { guest.level = .high }
      if guest.id == 1 { guest.past = [.low, .high, .high] }
    }
    for version: UInt64 in [0, 1] {
      try expectRefused(
        configuration(directory.file(), engine, Narrowed.Guest.self, version: version), directory.file(), engine,
        ["Guest.level", "'high'", "2 objects", "Guest.past", "1 object"])
    }
    let store = try Store(
      configuration(directory.file(), engine, Narrowed.Guest.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Guest") { old, new in
          if old["level"] == .string("high") { try new?.set("level", to: .string("normal")) }
          try new?.set("past", to: old.elements("past").filter { $0 != .string("high") })
        }
      })
    #expect(store.objects(Narrowed.Guest.self).where { $0.level == .normal }.count == 5)
    #expect(store.object(Narrowed.Guest.self, forPrimaryKey: 1)?.past.toArray() == [.low])
  }

  @Test(arguments: files) func aCaseThatNobodyHasMayGoAndComeBack(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine)
    #expect(try Store(configuration(directory.file(), engine, Narrowed.Guest.self)).objects(Narrowed.Guest.self).count == 5)
    try fill2(directory.file(), engine)
    try expectRefusedCase(configuration(directory.file(), engine, Narrowed.Guest.self))
  }

  private func fill2(_ file: URL, _ engine: Engine) throws {
    let store = try Store(engine.configuration(file, [Original.Guest.self]))
    try store.write { store.object(Original.Guest.self, forPrimaryKey: 2)?.level = .high }
  }

  private func expectRefusedCase(_ configuration: Store.Configuration) throws {
    let error = #expect(throws: StoreError.self) { try Store(configuration) }
    #expect(error?.code == .schemaMismatch && error?.details["faults"]?.contains("Guest.level") == true)
  }

  @Test(arguments: files) func whatCannotBeConvertedIsRefused(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine) { if $0.id < 3 { $0.first = "\($0.id)" } }
    let faults = #expect(throws: StoreError.self) {
      try Store(configuration(directory.file(), engine, Converted.Guest.self, version: 1))
    }
    #expect(faults?.code == .schemaMismatch && faults?.details["faults"]?.contains("3 objects") == true)
    let store = try Store(
      configuration(directory.file(), engine, Converted.Guest.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Guest") { _, new in
          if let new, new["first"] == .int(0) { try new.set("first", to: .int(-1)) }
        }
      })
    #expect(store.objects(Converted.Guest.self).map(\.first) == [1, 2, -1, -1, -1])
  }

  @Test(arguments: files) func aRenamedPropertyKeepsItsValues(engine: Engine) throws {
    for version: UInt64 in [0, 1] {
      let directory = TemporaryDirectory("changed")
      var before: Original.Guest?
      try fill(directory.file(), engine) { guest in
        guest.marks = [guest.id]
        guest.friend = before
        before = guest
      }
      let renaming = configuration(directory.file(), engine, Renaming.Guest.self, version: version)
      let report = try Store.dryRun(renaming)
      #expect(report.failure == nil && report.outcomes.contains { $0.property == "name" && $0.change == .renamed(from: "first") })
      do {
        let store = try Store(renaming)
        #expect(store.objects(Renaming.Guest.self).sorted(by: \.name).map(\.name) == (1...5).map { "F\($0)" })
        let guest = try #require(store.object(Renaming.Guest.self, forPrimaryKey: 2))
        #expect(guest.grades.toArray() == [2] && guest.mate?.id == 1 && guest.mates.map(\.id) == [3])
        #expect(store.schemaChanges.contains(.renamedProperty(type: "Guest", from: "first", to: "name")))
        try store.write { guest.name = "X" }
      }
      #expect(try Store(renaming).schemaChanges.isEmpty)
      #expect(try Store(renaming).object(Renaming.Guest.self, forPrimaryKey: 2)?.name == "X")
      if version == 0 {
        // Who still knows the old names would see nothing in them.
        let older = engine.configuration(directory.file(), [Original.Guest.self])
        #expect { try Store(older) } throws: { StoreError.Code.schemaMismatch ~= $0 }
      }
    }
  }

  @Test(arguments: files) func aRenamedPropertyMayChangeItsTypeToo(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine) { $0.first = "1\($0.id)" }
    let store = try Store(configuration(directory.file(), engine, RenamingConverted.Guest.self, version: 1))
    #expect(store.objects(RenamingConverted.Guest.self).map(\.number) == [11, 12, 13, 14, 15])
  }

  @Test(arguments: files) func whatTheConfigurationSaysGoesOrStays(engine: Engine) throws {
    for version: UInt64 in [0, 1] {
      let directory = TemporaryDirectory("changed")
      try fill(directory.file(), engine) { $0.marks = [1] }
      var lacking = configuration(directory.file(), engine, Lacking.Guest.self, version: version)
      lacking.unlistedProperties = ["Guest.first": .remove, "Guest.marks": .keep]
      let report = try Store.dryRun(lacking)
      #expect(report.outcomes.map(\.description) == ["Guest.first: 5 objects lose a value"])
      #expect(try Store(lacking).objects(Lacking.Guest.self).count == 5)
      #expect(try Store(lacking).schemaChanges.isEmpty)
      let store = try Store(configuration(directory.file(), engine, Original.Guest.self, version: version))
      #expect(store.objects(Original.Guest.self).map(\.first) == ["", "", "", "", ""])
      #expect(store.objects(Original.Guest.self).map { $0.marks.toArray() } == [[1], [1], [1], [1], [1]])
    }
  }

  @Test(arguments: files) func aForgottenNameMayAlsoBeKeptOrRemoved(engine: Engine) throws {
    for choice in [UnlistedProperty.keep, .remove] {
      let directory = TemporaryDirectory("changed")
      try fill(directory.file(), engine)
      var forgetful = configuration(directory.file(), engine, Forgetful.Guest.self)
      forgetful.unlistedProperties["Guest.first"] = choice
      #expect(try Store(forgetful).objects(Forgetful.Guest.self).map(\.name) == ["", "", "", "", ""])
    }
  }

  @Test(arguments: files) func aDryRunSaysWhatEachObjectGets(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fill(directory.file(), engine)
    let report = try Store.dryRun(configuration(directory.file(), engine, Growing.Guest.self))
    #expect(report.failure == nil && report.outcomes.map(\.property) == ["rank", "timeout", "token", "maybe"])
    #expect(report.outcomes.allSatisfy { $0.objects == 5 })
    #expect(report.outcomes[0].change == .added(.int(5)) && report.outcomes[1].change == .added(.int(300)))
    #expect(report.outcomes[3].change == .added(.null))
    if case .addedForEach(.uuid) = report.outcomes[2].change {} else { Issue.record("\(report.outcomes[2])") }
    #expect("\(report.outcomes[1])" == "Guest.timeout: 5 objects get 300")
    let raised = try Store.dryRun(configuration(directory.file(), engine, Converted.Guest.self, version: 1))
    #expect(raised.outcomes.map(\.change) == [.converted(from: .scalar(.string), failures: 5)])
    let needing = try Store.dryRun(configuration(directory.file(), engine, Needing.Guest.self, version: 1))
    #expect(needing.outcomes.map(\.change) == [.addedWithoutValue])
  }

  // MARK: properties that become another type

  private func fillLinked(_ file: URL, _ engine: Engine, _ body: ([Linked.Guest]) throws -> Void) throws {
    let store = try Store(engine.configuration(file, [Linked.Guest.self]))
    try store.write {
      let guests = (1...3).map { Linked.Guest(id: $0) }
      for guest in guests { try store.add(guest) }
      try body(guests)
    }
  }

  private func faults(_ configuration: Store.Configuration) -> String {
    let error = #expect(throws: StoreError.self) { try Store(configuration) }
    #expect(error?.code == .schemaMismatch)
    return error?.details["faults"] ?? ""
  }

  /// A key of one type is another object in another type.
  @Test(arguments: files) func linksDoNotBecomeLinksToAnotherType(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fillLinked(directory.file(), engine) { guests in
      guests[0].friend = guests[1]
      for guest in guests { guests[2].friends.append(guest) }
    }
    var configuration = engine.configuration(directory.file(), [LinkedElsewhere.Guest.self, LinkedElsewhere.Host.self])
    configuration.schemaVersion = 1
    let faults = faults(configuration)
    #expect(faults.contains("Guest.friend") && faults.contains("Guest.friends"), "\(faults)")
  }

  @Test(arguments: files) func linksBecomeLooseValues(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fillLinked(directory.file(), engine) { guests in
      guests[0].friend = guests[1]
      guests[0].friends.append(guests[2])
    }
    let store = try Store(configuration(directory.file(), engine, Retyped.Guest.self, version: 1))
    let guest = try #require(store.objects(Retyped.Guest.self).first)
    #expect(guest.friend.object(Retyped.Guest.self, in: store)?.id == 2 && guest.friends[0].object(Retyped.Guest.self, in: store)?.id == 3)
  }

  @Test(arguments: files) func whatASingleValueCannotHoldIsRefused(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fillLinked(directory.file(), engine) { guests in
      guests[0].marks = [1, 2, 3]
      guests[1].marks.append(4)
      guests[2].weight = 1e300
    }
    let retyped = configuration(directory.file(), engine, Retyped.Guest.self, version: 1)
    let faults = faults(retyped)
    #expect(faults.contains("Guest.marks") && faults.contains("1 object") && faults.contains("Guest.weight"), "\(faults)")
    let store = try Store(
      configuration(directory.file(), engine, Retyped.Guest.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Guest") { old, new in
          if old["id"] == .int(1) { try new?.set("marks", to: .int(6)) }
          if old["id"] == .int(3) { try new?.set("weight", to: .float(.greatestFiniteMagnitude)) }
        }
      })
    #expect(store.objects(Retyped.Guest.self).map(\.marks) == [6, 4, 0])
  }

  /// A set holds each element once, and a list has no keys.
  @Test(arguments: files) func whatAnotherCollectionCannotHoldIsRefused(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fillLinked(directory.file(), engine) { guests in
      guests[0].marks = [1, 2, 1]
      guests[1].marks = [3, 1]
      guests[2].rooms["a"] = 2
    }
    var regrouped = configuration(directory.file(), engine, Regrouped.Guest.self, version: 1)
    regrouped.unlistedProperties = ["Guest.friend": .remove, "Guest.friends": .remove, "Guest.weight": .remove]
    let faults = faults(regrouped)
    #expect(faults.contains("Guest.marks") && faults.contains("Guest.rooms") && !faults.contains("2 objects"), "\(faults)")
    regrouped.migration = { migration, _ in
      try migration.enumerateObjects(ofType: "Guest") { old, new in
        if old["id"] == .int(1) { try new?.set("marks", to: [.int(1), .int(2)]) }
        if old["id"] == .int(3) { try new?.set("rooms", to: old.entries("rooms").map(\.value)) }
      }
    }
    let guests = try Store(regrouped).objects(Regrouped.Guest.self)
    #expect(guests.map { $0.marks.toArray() } == [[1, 2], [1, 3], []] && guests[2].rooms.toArray() == [2])
  }

  @Test(arguments: files) func theEntriesOfAMapKeepTheirKeys(engine: Engine) throws {
    let directory = TemporaryDirectory("changed")
    try fillLinked(directory.file(), engine) { guests in
      guests[0].rooms["a"] = AnyValue()
      guests[0].rooms["b"] = 2
      guests[0].rooms["c"] = 3
    }
    let store = try Store(configuration(directory.file(), engine, Retyped.Guest.self, version: 1))
    let rooms = try #require(store.objects(Retyped.Guest.self).first?.rooms)
    #expect(rooms["b"] == 2 && rooms["c"] == 3 && rooms["a"] == nil)
  }
}
