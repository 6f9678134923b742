import Foundation
import StorageInterface
import StorageMemory
import StorageSQLite
import StoreValues
import Vivarium
import VivariumTestSupport

@Model final class Owner {
  @PrimaryKey var id = 0
  var name = ""
  var age = 0
  var home: Home?
  var best: Pet?
  var words: LiveList<String>
  @Relationship(deleteRule: .deny) var pets: LiveList<Pet>
}

@Model final class Pet {
  @Unique var tag = ""
  var age = 0
}

@Model(.embedded) final class Home { var city = "" }

/// Types that a file has otherwise.
enum Otherwise {
  @Model final class Pet {
    @Unique var tag = ""
    var age = ""
  }
}

/// A folder in which a mistake is made.
final class Ground {
  static let models: [any SchemaDescribing.Type] = [Owner.self, Pet.self, Home.self]

  let folder = TemporaryDirectory("errors")
  var path: String { folder.file("store").path }

  func configuration(
    _ backend: (any StorageBackend)? = nil, models: [any SchemaDescribing.Type] = Ground.models
  ) -> Store.Configuration {
    var configuration = Store.Configuration(backend: backend ?? SQLiteBackend(path: path), models: models)
    configuration.manualDelivery = true
    return configuration
  }

  func store() throws -> Store { try Store(configuration()) }

  /// A store with one owner.
  func owned() throws -> (store: Store, owner: Owner) {
    let (store, owner) = (try store(), Owner(id: 1, name: "Ann"))
    try store.write { try store.add(owner) }
    return (store, owner)
  }

  /// A closed file with a type and an object, and the table.
  func closedFile(_ backend: (any StorageBackend)? = nil) throws -> TableEntry {
    let engine = try (backend ?? SQLiteBackend(path: path)).open(OpenOptions())
    defer { engine.close() }
    guard let table = try engine.adopt(Schema([ObjectSchema("Pet", .scalar("tag", .string, unique: true))]))["Pet"] else {
      throw StorageError(.misuse, .engine, "There is no table.")
    }
    try engine.write { try $0.insert(table) }
    return table
  }

  /// Overwrites bytes of the file.
  func patch(_ offset: Int, _ bytes: [UInt8]) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  /// A store behind an engine whose commits, or reads, end with an error.
  func failing(_ error: StorageError) -> Store.Configuration {
    let base = configuration()
    return configuration(ForwardingBackend(base.backend) { FailingEngine(base: $0, error: error) })
  }
}

/// An engine that fails as an engine may: at the commit of a write that changed something, or where reads begin.
final class FailingEngine: EngineInFront {
  let base: any StorageEngine
  private let error: StorageError

  init(base: any StorageEngine, error: StorageError) { (self.base, self.error) = (base, error) }

  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    FailingWrite(base: try base.beginWrite(deadline), error: error)
  }
}

private final class FailingWrite: ForwardingWrite {
  let base: any WriteTransaction
  private let error: StorageError

  init(base: any WriteTransaction, error: StorageError) { (self.base, self.error) = (base, error) }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    // What opening the store writes is none of this.
    if record.tables.isEmpty { return try base.commit(record, durability) }
    if error.code == .unsynced { _ = try base.commit(record, durability) } else { base.end() }
    throw error
  }
}
