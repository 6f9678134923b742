import StoreValues
import SyncClient
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// The type in two versions of a program, and in one that fills a map.
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
    var tags: LiveSet<String>
    var address: Address?
  }

  @Model(.embedded) final class Address {
    var street = ""
    var zip: String?
  }
}

private enum Mapped {
  @Model final class Card {
    @PrimaryKey var id = ""
    var name = ""
    var settings: LiveMap<String>
  }
}

/// The same of a type that is embedded in the elements of a list.
private enum Listed {
  @Model final class Card {
    @PrimaryKey var id = ""
    var lines: LiveList<Line>
  }

  @Model(.embedded) final class Line {
    var text = ""
  }
}

private enum MappedLines {
  @Model final class Card {
    @PrimaryKey var id = ""
    var lines: LiveList<Line>
  }

  @Model(.embedded) final class Line {
    var text = ""
    var settings: LiveMap<String>
  }
}

/// Devices are updated at different times, and each fills what is new in the objects that it has when it is.
@MainActor @Suite("Sets, maps and embedded objects that a migration fills in replicated objects", .timeLimit(.minutes(15)))
struct FilledPropertiesTests {
  /// A program of the first version is not open any more when one of the second opens its file.
  @MainActor private struct Devices {
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
    let directory = TemporaryDirectory("filled")
    let engine: Engine

    func open(_ name: String, _ models: [any SchemaDescribing.Type], deletes: Bool = false, _ fill: Fill? = nil) throws -> Store {
      var configuration = engine.configuration(directory, name)
      configuration.models = models
      configuration.deletesIfMigrationNeeded = deletes
      configuration.replicate()
      if let fill {
        configuration.schemaVersion = 1
        configuration.migration = { migration, _ in
          try migration.enumerateObjects(ofType: "Card") { _, new in if let new { try fill(migration, new, name) } }
        }
      }
      return try Store(configuration)
    }

    func earlier(_ name: String) throws -> Store { try open(name, [Earlier.Card.self]) }

    /// With a set that is filled twice: what it has in the end counts.
    func later(_ name: String) throws -> Store {
      try open(name, [Later.Card.self, Later.Address.self]) { migration, card, name in
        try card.set("tags", to: [.string("draft")])
        try card.set("tags", to: [.string("by \(name)")])
        let address = try migration.create("Address", ["street": .string("\(name)'s"), "zip": .string("0")])
        try card.set("address", to: .link(address.key))
      }
    }

    func sync(_ store: Store, _ name: String) async throws { try await store.exchange("/shared/cards", with: host, as: name) }

    /// Two devices of the first version, with one object.
    func begin() async throws {
      let ann = try earlier("ann")
      try ann.write { _ = try ann.create(Earlier.Card.self, value: ["id": "a", "name": "tea"]) }
      try await sync(ann, "ann")
      try await sync(try earlier("bob"), "bob")
    }

    func card(_ store: Store) throws -> Later.Card { try #require(store.object(Later.Card.self, forPrimaryKey: "a")) }

    /// Ann's device is updated and changes the card. Bob's is updated before it has heard of that, or after.
    func change(known: Bool, _ change: (Later.Card) throws -> Void) async throws -> (ann: Later.Card, bob: Later.Card) {
      try await begin()
      let ann = try later("ann")
      try ann.write { try change(try card(ann)) }
      try await sync(ann, "ann")
      if known { try await sync(try earlier("bob"), "bob") }
      let bob = try later("bob")
      for (store, name) in [(bob, "bob"), (ann, "ann")] { try await sync(store, name) }
      return (try card(ann), try card(bob))
    }
  }

  private typealias Fill = @Sendable (Migration, MigrationObject, String) throws -> Void

  @Test("keep the members that somebody inserted on a device that was updated before", arguments: [false, true], [Engine.lmdb, .sqlite])
  func members(known: Bool, engine: Engine) async throws {
    let (ann, bob) = try await Devices(engine: engine).change(known: known) { $0.tags.insert("mine") }
    let all: Set<String> = known ? ["by ann", "mine"] : ["by ann", "by bob", "mine"]
    #expect(Set(ann.tags) == all && Set(bob.tags) == all)
  }

  @Test("do not bring back what somebody removed", arguments: [false, true], [Engine.lmdb, .sqlite])
  func removed(known: Bool, engine: Engine) async throws {
    let (ann, bob) = try await Devices(engine: engine).change(known: known) { $0.address = nil }
    #expect(ann.address == nil && bob.address == nil)
  }

  @Test("do not write into what somebody put there", arguments: [false, true], [Engine.lmdb, .sqlite])
  func replaced(known: Bool, engine: Engine) async throws {
    let (ann, bob) = try await Devices(engine: engine).change(known: known) { card in
      let address = Later.Address()
      address.street = "mine"
      card.address = address
    }
    for card in [ann, bob] { #expect(card.address?.street == "mine" && card.address?.zip == nil) }
  }

  @Test("are no maps, because each key has the latest that anybody wrote", arguments: [Engine.lmdb, .sqlite], [false, true])
  func maps(engine: Engine, deletes: Bool) async throws {
    let devices = Devices(engine: engine)
    try await devices.begin()
    let refused = #expect(throws: StoreError.self) {
      try devices.open("ann", [Mapped.Card.self], deletes: deletes) { _, card, name in try card.set("settings", to: ["k": .string(name)]) }
    }
    #expect(refused?.code == .schemaMismatch && refused?.message.contains("'Card.settings'") == true)
    // The file is as it was, also where one that does not fit would be deleted.
    #expect(try devices.earlier("ann").object(Earlier.Card.self, forPrimaryKey: "a")?.name == "tea")
    let ann = try devices.open("ann", [Mapped.Card.self]) { _, card, _ in try card.set("settings", to: [:]) }
    try ann.write { ann.object(Mapped.Card.self, forPrimaryKey: "a")?.settings["k"] = "mine" }
    try await devices.sync(ann, "ann")
    let bob = try devices.open("bob", [Mapped.Card.self]) { _, card, _ in try card.set("settings", to: [:]) }
    for (store, name) in [(bob, "bob"), (ann, "ann")] { try await devices.sync(store, name) }
    for store in [ann, bob] { #expect(store.object(Mapped.Card.self, forPrimaryKey: "a")?.settings["k"] == "mine") }
  }

  /// An element that was there is one for all replicas, as the object is; one that the migration inserts is the file's own.
  @Test("are no maps in elements that were there, and may be some in new ones", arguments: [Engine.lmdb, .sqlite])
  func mapsInElements(engine: Engine) async throws {
    let devices = Devices(engine: engine)
    let later: [any SchemaDescribing.Type] = [MappedLines.Card.self, MappedLines.Line.self]
    func earlier(_ name: String) throws -> Store { try devices.open(name, [Listed.Card.self, Listed.Line.self]) }
    func begin() async throws {
      let ann = try earlier("ann")
      try ann.write { _ = try ann.create(Listed.Card.self, value: ["id": "a", "lines": [["text": "mine"]]]) }
      try await devices.sync(ann, "ann")
      try await devices.sync(try earlier("bob"), "bob")
    }
    try await begin()
    // Neither where the file has inserted the element itself, nor where another one has.
    for name in ["ann", "bob"] {
      let refused = #expect(throws: StoreError.self) {
        try devices.open(name, later) { migration, _, name in
          try migration.enumerateObjects(ofType: "Line") { _, line in try line?.set("settings", to: ["k": .string(name)]) }
        }
      }
      #expect(refused?.code == .schemaMismatch && refused?.message.contains("'Line.settings'") == true)
      #expect(try earlier(name).object(Listed.Card.self, forPrimaryKey: "a")?.lines.map(\.text) == ["mine"])
    }
    for name in ["ann", "bob"] {
      let store = try devices.open(name, later) { migration, card, name in
        let line = try migration.create("Line", ["text": .string("by \(name)")])
        try line.set("settings", to: ["k": .string(name)])
        try card.edit("lines", .insert(at: 1, [.link(line.key)]))
      }
      try await devices.sync(store, name)
    }
    let after = try devices.open("ann", later) { _, _, _ in }
    try await devices.sync(after, "ann")
    let lines = try #require(after.object(MappedLines.Card.self, forPrimaryKey: "a")?.lines)
    #expect(lines.map(\.text).sorted() == ["by ann", "by bob", "mine"])
    #expect(lines.compactMap { $0.settings["k"] }.sorted() == ["ann", "bob"])
  }
}
