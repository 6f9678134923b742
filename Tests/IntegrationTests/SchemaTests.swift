import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// What opening does to a file whose types are others than the program's.
@Suite struct SchemaTests {
  @Test(arguments: [Engine.lmdb, .sqlite]) func indexesComeAndGoAtOpenWithoutAMigration(engine: Engine) throws {
    let directory = TemporaryDirectory("schema")
    try fill(engine.configuration(directory.file(), [PlainItem.self]), codes: [1, 2, 3])
    do {
      let store = try Store(engine.configuration(directory.file(), [IndexedItem.self]))
      #expect(
        store.schemaChanges == [
          .addedIndex(type: "Item", properties: ["name"], isUnique: false),
          .addedIndex(type: "Item", properties: ["name", "code"], isUnique: true),
        ])
      #expect(try store.dynamicObjects("Item").count == 3)
      let error = #expect(throws: StoreError.self) {
        try store.write { try store.dynamicCreate("Item", ["name": .string("item"), "code": .int(2)]) }
      }
      #expect(error?.code == .uniqueViolation && error?.details["property"] == "name, code")
    }
    #expect(try Store(engine.configuration(directory.file(), [IndexedItem.self])).schemaChanges.isEmpty)
    let store = try Store(engine.configuration(directory.file(), [PlainItem.self]))
    #expect(store.schemaChanges.count == 2 && store.schemaChanges.allSatisfy(\.isOfIndexes))
    try store.write { try store.dynamicCreate("Item", ["name": .string("item"), "code": .int(2)]) }
    #expect(try store.dynamicObjects("Item").count == 4)
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func aUniqueIndexThatTheDataForbidIsRefusedAndNothingChanges(engine: Engine) throws {
    let directory = TemporaryDirectory("schema")
    try fill(engine.configuration(directory.file(), [PlainItem.self]), codes: [7, 7])
    let error = #expect(throws: StoreError.self) { try Store(engine.configuration(directory.file(), [IndexedItem.self])) }
    #expect(error?.code == .uniqueViolation)
    let store = try Store(engine.configuration(directory.file(), [PlainItem.self]))
    #expect(try store.dynamicObjects("Item").count == 2 && store.schemaChanges.isEmpty)
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func additionsNeedNoVersionAndAreReported(engine: Engine) throws {
    let directory = TemporaryDirectory("schema")
    try fill(engine.configuration(directory.file(), [PlainItem.self]), codes: [1])
    let store = try Store(engine.configuration(directory.file(), [GrownItem.self, Author.self, Book.self]))
    #expect(
      store.schemaChanges.map(\.description) == ["added 'Item.note'", "added 'Item.rank'", "created 'Author'", "created 'Book'"])
    let item = try #require(store.dynamicObjects("Item").first)
    #expect(item["note"] == .null && item["rank"] == .int(5) && item["code"] == .int(1))
    // An older program goes on with what it knows.
    let old = try Store(engine.configuration(directory.file(), [PlainItem.self]))
    try old.write { try old.dynamicCreate("Item", ["name": .string("old"), "code": .int(2)]) }
    store.refresh()
    #expect(try store.dynamicObjects("Item").map { $0["rank"] } == [.int(5), .int(5)])
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func everyFaultIsInOneError(engine: Engine) throws {
    let directory = TemporaryDirectory("schema")
    let nothing = #expect(throws: StoreError.self) { try Store(engine.configuration(directory.file(), [BrokenItem.self, Derived.self])) }
    #expect(nothing?.code == .schemaMismatch)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    try fill(engine.configuration(directory.file(), [PlainItem.self]), codes: [1])
    let error = #expect(throws: StoreError.self) { try Store(engine.configuration(directory.file(), [BrokenItem.self, Derived.self])) }
    let faults = try #require(error?.details["faults"])
    // Of the models alone, and against the file.
    for part in ["Item.owner", "Derived: inherits from", "Item.name", "Item.code"] {
      #expect(faults.contains(part), "\(faults)")
    }
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func aReadOnlyStoreReadsWhatItKnowsAndWritesNothing(engine: Engine) throws {
    let directory = TemporaryDirectory("schema")
    try fill(engine.configuration(directory.file(), [PlainItem.self, Author.self, Book.self]), codes: [1, 2])
    var configuration = engine.configuration(directory.file(), [PlainItem.self])
    configuration.options.isReadOnly = true
    do {
      // The file has a type more.
      let store = try Store(configuration)
      #expect(try store.dynamicObjects("Item").count == 2)
      #expect { try store.write {} } throws: { StoreError.Code.readOnly ~= $0 }
      #expect(store.schema.objects.map(\.name) == ["Item", "Author", "Book"])
    }
    // Indexes that are not there cost time, not answers.
    configuration.models = [IndexedItem.self]
    #expect(try Store(configuration).dynamicObjects("Item").count == 2)
    configuration.models = [GrownItem.self]
    let error = #expect(throws: StoreError.self) { try Store(configuration) }
    #expect(error?.code == .readOnly && error?.details["missing"] == "added 'Item.note'; added 'Item.rank'")
  }

  @Test(arguments: Engine.allCases) func severalValuesOfACompoundKeyChangeTogether(engine: Engine) throws {
    let (configuration, directory) = engine.place([Seat.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write {
      try store.add(Seat(id: 1, row: 1, number: 2))
      try store.add(Seat(id: 2, row: 2, number: 2))
      // Row 2 alone would be taken; row 2, number 1 is free.
      try store.add(Seat(id: 1, row: 2, number: 1), update: .modified)
    }
    let first = try #require(store.object(Seat.self, forPrimaryKey: 1))
    #expect(first.row == 2 && first.number == 1)
    try store.write {
      let error = #expect(throws: StoreError.self) { try store.add(Seat(id: 1, row: 2, number: 2, note: "x"), update: .modified) }
      #expect(error?.code == .uniqueViolation && error?.details["property"] == "row, number")
      #expect(first.number == 1 && first.note == "")
      try store.add(Seat(id: 3, row: 9, number: 9))
    }
    #expect(store.objects(Seat.self).count == 3 && first.note == "")
  }

  private func fill(_ configuration: Store.Configuration, codes: [Int64]) throws {
    let store = try Store(configuration)
    try store.write {
      for code in codes { try store.dynamicCreate("Item", ["name": .string("item"), "code": .int(code)]) }
    }
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func theVersionOfAFileIsKnownWithoutItsBeingMadeOrMigrated(engine: Engine) throws {
    let directory = TemporaryDirectory("version")
    var configuration = engine.configuration(directory.file())
    #expect(try Store.schemaVersion(of: configuration) == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    configuration.schemaVersion = 3
    configuration.migration = { _, _ in }
    _ = try Store(configuration)
    configuration.schemaVersion = 9
    #expect(try Store.schemaVersion(of: configuration) == 3)
    try Data("no database".utf8).write(to: directory.file("other"))
    #expect(throws: StoreError.self) { try Store.schemaVersion(of: engine.configuration(directory.file("other"))) }
  }
}

@Model final class Seat {
  #Unique<Seat>([\.row, \.number])
  @PrimaryKey var id: Int
  var row = 0
  var number = 0
  var note = ""
}

// An `Item` through the years.

private enum PlainItem: SchemaDescribing {
  static var _$schema: ObjectSchema { ObjectSchema("Item", .scalar("name", .string), .scalar("code", .int64)) }
}

private enum IndexedItem: SchemaDescribing {
  static var _$schema: ObjectSchema {
    ObjectSchema(
      "Item", .scalar("name", .string, indexed: true), .scalar("code", .int64),
      indexes: [IndexSchema(properties: ["name", "code"], isUnique: true)])
  }
}

private enum GrownItem: SchemaDescribing {
  static var _$schema: ObjectSchema {
    ObjectSchema(
      "Item", .scalar("name", .string), .scalar("code", .int64), .scalar("note", .string, optional: true),
      .scalar("rank", .int64, default: .int(5)))
  }
}

private enum BrokenItem: SchemaDescribing {
  static var _$schema: ObjectSchema {
    ObjectSchema("Item", .scalar("name", .int64), .scalar("code", .string), .link("owner", to: "Nobody"))
  }
}
