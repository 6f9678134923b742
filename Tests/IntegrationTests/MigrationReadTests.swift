import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

private enum Bare {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
  }
}

/// A disk that breaks when the properties of single objects are read.
private final class BrokenRead: ForwardingRead {
  let base: any ReadTransaction

  init(_ base: any ReadTransaction) { self.base = base }

  private var error: StorageError { StorageError(.io, .statement, "The disk is broken.") }

  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? { throw error }
  func bytes(_ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) { throw error }
  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) { throw error }
}

/// What a migration reads and the disk does not give is no null: the values would go with their property.
@Suite struct MigrationReadTests {
  private static let files: [Engine] = [.lmdb, .sqlite]

  /// How a migration asks for each kind of property.
  enum Asked: String, CaseIterable, Sendable {
    case weight, marks, rooms

    func read(_ object: MigrationObject) -> Bool {
      switch self {
      case .weight: object["weight"].isNull
      case .marks: object.elements("marks").isEmpty
      case .rooms: object.entries("rooms").isEmpty
      }
    }
  }

  private func fill(_ file: URL, _ engine: Engine) throws {
    let store = try Store(engine.configuration(file, [Linked.Guest.self]))
    try store.write {
      let guest = Linked.Guest(id: 1, weight: 1.5)
      guest.marks = [1]
      guest.rooms["a"] = 2
      try store.add(guest)
    }
  }

  /// A program without the properties, whose migration looks at one of them.
  private func configuration(_ file: URL, _ engine: Engine, _ asked: Asked, isNamed: Bool) -> Store.Configuration {
    var configuration = engine.configuration(file, [Bare.Guest.self])
    for name in Asked.allCases where name != asked { configuration.unlistedProperties["Guest.\(name.rawValue)"] = .remove }
    let step: @Sendable (Migration) throws -> Void = { migration in
      try migration.enumerateObjects(ofType: "Guest") { old, _ in _ = asked.read(old) }
    }
    if isNamed {
      configuration.migrations = [NamedMigration("look", step)]
    } else {
      configuration.schemaVersion = 1
      configuration.migration = { migration, _ in try step(migration) }
    }
    return configuration
  }

  @Test(arguments: files, Asked.allCases) func whatCannotBeReadEndsTheMigrationAndStays(engine: Engine, asked: Asked) throws {
    for isNamed in [false, true] {
      let directory = TemporaryDirectory("reads")
      try fill(directory.file(), engine)
      let sound = configuration(directory.file(), engine, asked, isNamed: isNamed)
      var broken = sound
      broken.backend = ForwardingBackend(sound.backend) { engine in ForwardingEngine(engine, read: { BrokenRead($0) }) }
      let error = #expect(throws: StoreError.self) { try Store(broken) }
      #expect(error?.code == .io, "\(error.map { "\($0)" } ?? "opened")")
      #expect((try Store.dryRun(broken).failure as? StoreError)?.code == .io)
      do {
        let store = try Store(engine.configuration(directory.file(), [Linked.Guest.self]))
        let guest = try #require(store.objects(Linked.Guest.self).first)
        #expect(guest.weight == 1.5 && guest.marks.toArray() == [1] && guest.rooms["a"] == 2 && store.schemaVersion == 0)
      }
      #expect(try Store(sound).objects(Bare.Guest.self).count == 1)
    }
  }

  @Test(arguments: files) func anObjectThatTheMigrationDeletedReadsAsNothing(engine: Engine) throws {
    let directory = TemporaryDirectory("reads")
    try fill(directory.file(), engine)
    var configuration = engine.configuration(directory.file(), [Linked.Guest.self])
    configuration.migrations = [
      NamedMigration("delete") { migration in
        try migration.enumerateObjects(ofType: "Guest") { _, new in
          guard let new else { return }
          try migration.delete(new)
          #expect(new["weight"].isNull && new.elements("marks").isEmpty)
        }
      }
    ]
    #expect(try Store(configuration).objects(Linked.Guest.self).isEmpty)
  }
}
