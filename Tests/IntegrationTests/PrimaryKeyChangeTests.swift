import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// The same type without a key, with one, with one of another type, and on another property.
private enum Keyless {
  @Model final class Part { var code = ""; var number = 0 }
}

private enum ByCode {
  @Model final class Part { @PrimaryKey var code: String = ""; var number = 0 }
}

private enum ByNumber {
  @Model final class Part { var code = ""; @PrimaryKey var number: Int = 0 }
}

private enum ByText {
  @Model final class Part { var code = ""; @PrimaryKey var number: String = "" }
}

private enum ByMadeKey {
  @Model final class Part { @PrimaryKey var id = UUID(); var code = ""; var number = 0 }
}

@Suite struct PrimaryKeyChangeTests {
  private static let files: [Engine] = [.lmdb, .sqlite]

  private func fill(_ file: URL, _ engine: Engine, codes: [String] = ["a", "b", "c"]) throws {
    let store = try Store(engine.configuration(file, [Keyless.Part.self]))
    try store.write {
      for (number, code) in codes.enumerated() { try store.add(Keyless.Part(code: code, number: number + 1)) }
    }
  }

  private func migrated(
    _ file: URL, _ engine: Engine, _ model: any SchemaDescribing.Type, version: UInt64,
    _ migration: (@Sendable (Migration, UInt64) throws -> Void)? = nil
  ) throws -> Store {
    var configuration = engine.configuration(file, [model])
    configuration.schemaVersion = version
    configuration.migration = migration
    return try Store(configuration)
  }

  @Test(arguments: files) func aKeyIsAddedMovedChangedAndTakenAway(engine: Engine) throws {
    let directory = TemporaryDirectory("keys")
    let file = directory.file()
    try fill(file, engine)
    do {
      let store = try migrated(file, engine, ByCode.Part.self, version: 1)
      #expect(store.object(ByCode.Part.self, forPrimaryKey: "b")?.number == 2)
      #expect { try store.write { try store.add(ByCode.Part(code: "b")) } } throws: { StoreError.Code.primaryKeyExists ~= $0 }
    }
    do {
      let store = try migrated(file, engine, ByNumber.Part.self, version: 2)
      #expect(store.object(ByNumber.Part.self, forPrimaryKey: 3)?.code == "c")
      // The one that it was is free.
      try store.write { try store.add(ByNumber.Part(code: "b", number: 4)) }
    }
    do {
      let store = try migrated(file, engine, ByText.Part.self, version: 3)
      #expect(store.object(ByText.Part.self, forPrimaryKey: "4")?.code == "b")
    }
    do {
      let store = try migrated(file, engine, Keyless.Part.self, version: 4)
      #expect(store.objects(Keyless.Part.self).map(\.number) == [1, 2, 3, 4])
      try store.write { try store.add(Keyless.Part(code: "x", number: 4)) }
    }
    let store = try migrated(file, engine, ByMadeKey.Part.self, version: 5)
    let keys = store.objects(ByMadeKey.Part.self).map(\.id)
    #expect(Set(keys).count == 5 && store.object(ByMadeKey.Part.self, forPrimaryKey: keys[1])?.code == "b")
  }

  @Test(arguments: files) func aMigrationMakesTheKeysThatItNeeds(engine: Engine) throws {
    let directory = TemporaryDirectory("keys")
    try fill(directory.file(), engine, codes: ["a", "a", "c"])
    let store = try migrated(directory.file(), engine, ByCode.Part.self, version: 1) { migration, _ in
      try migration.enumerateObjects(ofType: "Part") { old, new in
        try new?.set("code", to: .string("\(old["code"])\(old["number"])"))
      }
    }
    #expect(store.objects(ByCode.Part.self).map(\.code) == ["a1", "a2", "c3"])
  }

  @Test(arguments: files) func duplicateKeysNameBothObjects(engine: Engine) throws {
    let directory = TemporaryDirectory("keys")
    try fill(directory.file(), engine, codes: ["a", "b", "c", "b"])
    let error = #expect(throws: StoreError.self) { try migrated(directory.file(), engine, ByCode.Part.self, version: 1) }
    #expect(error?.code == .primaryKeyExists && error?.details["type"] == "Part" && error?.details["property"] == "code")
    #expect(error?.details["key"] == "b" && error?.details["object"] == "4" && error?.details["conflictingKey"] == "2")
    let same = #expect(throws: StoreError.self) {
      try migrated(directory.file(), engine, ByMadeKey.Part.self, version: 1) { migration, _ in
        try migration.enumerateObjects(ofType: "Part") { _, new in try new?.set("id", to: .uuid(UUID(uuid: noBytes))) }
      }
    }
    #expect(same?.code == .primaryKeyExists && same?.details["object"] == "2" && same?.details["conflictingKey"] == "1")
    let store = try Store(engine.configuration(directory.file(), [Keyless.Part.self]))
    #expect(store.objects(Keyless.Part.self).map(\.code) == ["a", "b", "c", "b"])
  }

  @Test(arguments: files) func aKeyStillNeedsAMigration(engine: Engine) throws {
    let directory = TemporaryDirectory("keys")
    try fill(directory.file(), engine)
    #expect { try migrated(directory.file(), engine, ByCode.Part.self, version: 0) } throws: { StoreError.Code.schemaMismatch ~= $0 }
  }
}

private let noBytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
