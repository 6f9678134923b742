import Foundation
import StoreInspection
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

struct Position: PersistableStruct, Equatable {
  var floor = 0
  var room = ""
}

@ValueModel struct Reading: Equatable {
  #Index<Reading>([\.sensor, \.celsius])
  @PrimaryKey var id: Int
  @Indexed var sensor = ""
  var celsius = 0.0
  var taken: Date?
  var place = Position()
  var tags: [String] = []
  var states: Set<Int> = []
  var notes: [String: String] = [:]
  @Transient var isShown = false
  var isWarm: Bool { celsius > 20 }
}

/// Without a primary key.
@ValueModel public struct Mark: Equatable {
  public var x = 0
  public var y: Int?
  public init(x: Int, y: Int? = nil) { (self.x, self.y) = (x, y) }
}

/// Structs as models: stored, asked and observed as values, beside live classes.
@Suite struct ValueModelTests {
  private static let models: [any SchemaDescribing.Type] = [Reading.self, Mark.self, Author.self, Book.self]

  private let samples = [
    Reading(
      id: 1, sensor: "attic", celsius: 21.5, taken: Date(timeIntervalSinceReferenceDate: -0.5), place: Position(floor: 3, room: "é"),
      tags: ["b", "a", "b"], states: [3, -1], notes: ["who": "Ann", "": "x"]),
    Reading(id: 2, sensor: "cellar", celsius: -.infinity), Reading(id: 3, sensor: "attic", celsius: 19, tags: [""]),
  ]

  /// A map tells keys apart by their bytes, as another program may write them.
  @Test(arguments: Engine.allCases) func keysThatADictionaryTakesForOneEndNoProcess(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write {
      try store.add([Reading(id: 1, notes: ["\u{E9}": "one"])])
      let row = try store.dynamicObjects("Reading")[0]
      try row.set(.string("two"), forKey: "e\u{301}", in: "notes")
    }
    var value = try #require(store.value(Reading.self, forPrimaryKey: 1))
    #expect(value.notes == ["\u{E9}": "one"])
    // The entry is one of the map's, and the other one stays where nobody has changed it.
    #expect(value.notes.keys.map { Array($0.utf8) } == [Array("\u{E9}".utf8)])
    func saved(_ notes: [String: String]) throws -> [String] {
      value.celsius += 1
      value.notes = notes
      try store.write { try store.add(value, update: .modified) }
      #expect(store.value(Reading.self, forPrimaryKey: 1) == value)
      let stored = try #require(store.object(Reading.Live.self, forPrimaryKey: 1))
      return stored.notes.entries.map { "\($0.key.utf8.count) \($0.value)" }
    }
    #expect(try saved(value.notes) == ["3 two", "2 one"])
    #expect(try saved(["\u{E9}": "three", "f": "four"]) == ["3 two", "1 four", "2 three"])
    // The other spelling takes the place of both, and without it both are gone.
    #expect(try saved(["e\u{301}": "five"]) == ["3 five"])
    #expect(try saved([:]) == [])
  }

  @Test(arguments: Engine.allCases) func aValueComesBackAsItWas(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write {
      try store.add(samples)
      try store.add(Mark(x: 7))
      try store.add(Author(name: "Ann"))
    }
    #expect(Array(store.values(Reading.self)) == samples && store.values(Mark.self).first == Mark(x: 7))
    #expect(store.value(Reading.self, forPrimaryKey: 2) == samples[1] && store.value(Reading.self, forPrimaryKey: 9) == nil)
    #expect(try store.objects(Author.self).count == 1 && store.dynamicObjects("Reading").count == 3)
    // A copy: what happens to the store later does not reach it, and what is done to it does not reach the store.
    var copy = store.values(Reading.self)[0]
    try store.write { try store.delete(Reading.self, forPrimaryKey: 1) }
    copy.celsius = 0
    #expect(copy.tags == ["b", "a", "b"] && store.values(Reading.self).map(\.id) == [2, 3])
  }

  @Test(arguments: Engine.allCases) func aValueTakesThePlaceOfAnotherByItsPrimaryKey(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write { try store.add(samples) }
    var changed = samples[0]
    (changed.celsius, changed.tags, changed.notes) = (30, ["new"], [:])
    try store.write {
      #expect { try store.add(changed) } throws: { StoreError.Code.primaryKeyExists ~= $0 }
      try store.add(changed, update: .modified)
    }
    #expect(store.value(Reading.self, forPrimaryKey: 1) == changed && store.values(Reading.self).count == 3)
    #expect { try store.add(changed) } throws: { StoreError.Code.notInWrite ~= $0 }
    #expect { try store.delete(Reading.self, forPrimaryKey: 77) } throws: { StoreError.Code.notInWrite ~= $0 }
    let isDeleted = try store.write { try store.delete(Reading.self, forPrimaryKey: 77) }
    #expect(!isDeleted)
    // One property alone, through the object behind the value.
    try store.write { store.object(Reading.Live.self, forPrimaryKey: 3)?.celsius = 1 }
    #expect(store.value(Reading.self, forPrimaryKey: 3)?.celsius == 1)
    try store.write { try store.delete(store.values(Reading.self).where { $0.sensor == "attic" }) }
    #expect(store.values(Reading.self).map(\.id) == [2])
  }

  @Test(arguments: Engine.allCases) func valuesAreAskedAndOrderedLikeObjects(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write { try store.add(samples) }
    let all = store.values(Reading.self)
    #expect(all.where { $0.sensor == "attic" && $0.celsius > 20 }.map(\.id) == [1])
    #expect(all.sorted(by: \.celsius).map(\.id) == [2, 3, 1] && all.sorted(by: \.taken, ascending: false).first?.id == 1)
    #expect(all.filter("ANY tags == 'a' AND place.floor == %@ AND notes['who'] == 'Ann'", 3).map(\.id) == [1])
    #expect(all.sorted(byKeyPath: "tags.@count", ascending: false).limited(to: 2).map(\.id) == [1, 3])
    #expect(all.filter("nothing == 1").error?.code == .invalidQuery && all.last?.id == 3)
    #expect(try all.objects.max(of: \.celsius) == 21.5)
    let indexes = Reading._$schema.allIndexes.map(\.properties)
    #expect(indexes.contains(["sensor"]) && indexes.contains(["sensor", "celsius"]))
  }

  @Test(arguments: Engine.allCases) func valuesAreObservedAsValues(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write { try store.add(samples) }
    var heard: [String] = []
    var known: [Reading] = []
    let tokens = [
      store.values(Reading.self).where { $0.celsius > 0 }.sorted(by: \.celsius).observe { change in
        if case .initial(let readings) = change { known = Array(readings) }
        guard case .update(let readings, let deletions, let insertions, let modifications) = change else { return }
        heard.append("rows \(deletions) \(insertions) \(Array(modifications))")
        known = Array(readings)
      },
      try store.values(Reading.self).observe(observingProperties: ["tags"]) { change in
        if case .update(_, _, _, let modifications) = change, !modifications.isEmpty { heard.append("tags") }
      },
      store.observe(Reading.self, forPrimaryKey: 3) { change in
        switch change {
        case .initial(let reading): heard.append("3 is \(reading?.celsius ?? 0)")
        case .change(let old, let new): heard.append("3 \(old?.celsius ?? 0) \(new?.celsius ?? 0)")
        case .error(let error): heard.append("\(error)")
        }
      },
    ]
    func told() -> [String] {
      store.refresh()
      defer { heard = [] }
      return heard
    }
    #expect(told() == ["3 is 19.0"] && known.map(\.id) == [3, 1])
    var third = samples[2]
    third.celsius = 50
    try other.write { try other.add(third, update: .modified) }
    let moved = told()
    #expect(moved == ["rows [0] [1] []", "3 19.0 50.0"] && known.map(\.id) == [1, 3] && known[1] == third, "\(moved)")
    third.tags = ["x"]
    try other.write { try other.add(third, update: .modified) }
    let tagged = told()
    #expect(tagged == ["rows [] [] [1]", "tags", "3 50.0 50.0"], "\(tagged)")
    try other.write { try other.delete(Reading.self, forPrimaryKey: 3) }
    let gone = told()
    #expect(gone == ["rows [1] [] []", "3 50.0 0.0"] && known.map(\.id) == [1], "\(gone)")
    for token in tokens { token.stop() }
  }

  @Test(arguments: Engine.allCases) func anObserverThatACommitSkipsKnowsTheValueThatItMade(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write { try store.add(samples) }
    var heard: [String] = []
    let token = store.observe(Reading.self, forPrimaryKey: 3) { change in
      if case .change(let old, let new) = change {
        heard.append("\(old?.celsius ?? 0) \(old?.tags ?? []) \(new?.celsius ?? 0)")
      }
    }
    func told() -> [String] {
      store.refresh()
      defer { heard = [] }
      return heard
    }
    func set(_ celsius: Double, by writer: Store, skipping tokens: [NotificationToken] = []) throws {
      var third = samples[2]
      (third.celsius, third.tags) = (celsius, ["t\(Int(celsius))"])
      try writer.write(withoutNotifying: tokens) { try writer.add(third, update: .modified) }
    }
    _ = told()
    try set(30, by: store, skipping: [token])
    #expect(told() == [])
    try set(40, by: other)
    #expect(told() == ["30.0 [\"t30\"] 40.0"])
    try set(30, by: other, skipping: [token])
    #expect(told() == [])
    try set(40, by: other)
    #expect(told() == ["30.0 [\"t30\"] 40.0"])
    // Both before the store moves: what was between them is in no version that it reads.
    try set(20, by: other, skipping: [token])
    try set(45, by: other)
    #expect(told() == ["40.0 [\"t40\"] 45.0"])
    try other.write(withoutNotifying: [token]) { try other.delete(Reading.self, forPrimaryKey: 3) }
    try set(50, by: other)
    #expect(told() == ["0.0 [] 50.0"])
    token.stop()
  }

  @Test func valuesTravelBetweenThreadsAndNeedNoStore() async throws {
    let (configuration, directory) = Engine.memory.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write { try store.add(samples) }
    let values = Array(store.values(Reading.self))
    let warm = await Task.detached { values.filter(\.isWarm).map(\.id) }.value
    #expect(warm == [1] && samples[0].unmanagedObject().celsius == 21.5 && Reading(samples[0].unmanagedObject()) == samples[0])
  }

  @Test(arguments: [(Engine.lmdb, Engine.sqlite), (.sqlite, .lmdb)]) func valuesAreCopiedBetweenEngines(from: Engine, to: Engine) throws {
    let (source, first) = from.place(Self.models)
    let (target, second) = to.place(Self.models)
    defer { withExtendedLifetime((first, second)) {} }
    do {
      let store = try Store(source)
      try store.write { try store.add(samples) }
    }
    do {
      let (old, new) = (try source.backend.open(OpenOptions()), try target.backend.open(OpenOptions()))
      try StoreCopy.copy(old, to: new)
      old.close()
      new.close()
    }
    #expect(try Array(Store(target).values(Reading.self)) == samples)
  }
}
