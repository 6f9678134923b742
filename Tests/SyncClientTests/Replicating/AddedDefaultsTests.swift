import Foundation
import StoreValues
import SyncClient
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// The type in two versions of a program. Every object gets another default in the second one.
private enum Earlier {
  @Model final class Card {
    @PrimaryKey var id = ""
    var name = ""
  }
}

private enum Later {
  @Model final class Card {
    @PrimaryKey var id = ""
    var name = ""
    var token: String = UUID().uuidString
    var rank = 3
  }
}

/// Devices are updated at different times, and each gives the objects that it has their defaults when it is.
@MainActor @Suite("Defaults of new properties in replicated objects", .timeLimit(.minutes(15)))
struct AddedDefaultsTests {
  /// How a program brings its objects to the second version.
  enum Way: CaseIterable, Sendable { case adopting, migrating, migratingInItsBlock }

  /// A program of the first version is not open any more when one of the second opens its file.
  @MainActor private struct Devices {
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
    let directory = TemporaryDirectory("defaults")
    let engine: Engine
    let way: Way

    func open(_ name: String, _ model: any SchemaDescribing.Type) throws -> Store {
      var configuration = engine.configuration(directory, name)
      configuration.models = [model]
      configuration.replicate()
      if model == Later.Card.self, way != .adopting { configuration.schemaVersion = 1 }
      if way == .migratingInItsBlock {
        configuration.migration = { migration, _ in
          try migration.enumerateObjects(ofType: "Card") { old, new in try new?.set("token", to: .string("\(old["name"]) by \(name)")) }
        }
      }
      return try Store(configuration)
    }

    func sync(_ store: Store, _ name: String) async throws { try await store.exchange("/shared/cards", with: host, as: name) }

    /// Two devices of the first version, with one object.
    func begin() async throws {
      let ann = try open("ann", Earlier.Card.self)
      try ann.write { _ = try ann.create(Earlier.Card.self, value: ["id": "a", "name": "tea"]) }
      try await sync(ann, "ann")
      try await sync(try open("bob", Earlier.Card.self), "bob")
    }

    func token(_ store: Store) -> String? { store.object(Later.Card.self, forPrimaryKey: "a")?.token }
  }

  @Test("never overwrite what somebody wrote on a device that was updated before", arguments: Way.allCases, [Engine.lmdb, .sqlite])
  func unseen(way: Way, engine: Engine) async throws {
    let devices = Devices(engine: engine, way: way)
    try await devices.begin()
    let ann = try devices.open("ann", Later.Card.self)
    try ann.write { ann.object(Later.Card.self, forPrimaryKey: "a")?.token = "mine" }
    // Bob's program is updated later, and before his device has heard of it.
    let bob = try devices.open("bob", Later.Card.self)
    #expect(devices.token(bob)?.isEmpty == false)
    try await devices.sync(ann, "ann")
    try await devices.sync(bob, "bob")
    try await devices.sync(ann, "ann")
    #expect(devices.token(ann) == "mine" && devices.token(bob) == "mine")
    // What is written after an update counts as ever.
    try bob.write { bob.object(Later.Card.self, forPrimaryKey: "a")?.token = "bob's" }
    try await devices.sync(bob, "bob")
    try await devices.sync(ann, "ann")
    #expect(devices.token(ann) == "bob's")
  }

  @Test("give way to what the file has of the property already", arguments: Way.allCases, [Engine.lmdb, .sqlite])
  func known(way: Way, engine: Engine) async throws {
    let devices = Devices(engine: engine, way: way)
    try await devices.begin()
    let ann = try devices.open("ann", Later.Card.self)
    try ann.write { ann.object(Later.Card.self, forPrimaryKey: "a")?.token = "mine" }
    try await devices.sync(ann, "ann")
    do {
      let bob = try devices.open("bob", Earlier.Card.self)
      try await devices.sync(bob, "bob")
    }
    let bob = try devices.open("bob", Later.Card.self)
    #expect(devices.token(bob) == "mine")
    try await devices.sync(bob, "bob")
    try await devices.sync(ann, "ann")
    #expect(devices.token(ann) == "mine" && devices.token(bob) == "mine")
  }

  @Test("are the same everywhere in the end where nobody wrote anything", arguments: Way.allCases, [Engine.lmdb, .sqlite])
  func equal(way: Way, engine: Engine) async throws {
    let devices = Devices(engine: engine, way: way)
    try await devices.begin()
    let (ann, bob) = (try devices.open("ann", Later.Card.self), try devices.open("bob", Later.Card.self))
    #expect(devices.token(ann) != devices.token(bob))
    for (store, name) in [(ann, "ann"), (bob, "bob"), (ann, "ann")] { try await devices.sync(store, name) }
    #expect(devices.token(ann) == devices.token(bob) && devices.token(ann)?.isEmpty == false)
    // A literal is in the catalog, and no object is written for it.
    #expect(ann.object(Later.Card.self, forPrimaryKey: "a")?.rank == 3)
  }
}
