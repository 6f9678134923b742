import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

// What the recorded scenarios of notifications are about. The name of a test begins with the scenario's.

@Model final class Thing {
  var number = 0
  var value = 0
  var link: Goal?
  var second: Second?
  var goals: LiveList<Goal>
  var goalSet: LiveSet<Goal>
  var goalMap: LiveMap<Goal>
}

@Model final class Goal {
  var value = 0
  var value2 = 0
  var next: Far?
  @Inverse(\Thing.link) var items: LinkingObjects<Thing>
}

@Model final class Second { var value = 0 }
@Model final class Far { var value = 0 }
@Model final class Linking { var link: Thing? }
@Model final class Unrelated { var value = 0 }

@Model final class Chain {
  var value = 0
  var link: Chain?
}

@Model final class Owner {
  var name = ""
  var items: LiveList<Goal>
  var ints: LiveSet<Int>
  var members: LiveSet<Leaf>
  var anything: LiveSet<AnyValue>
  var map: LiveMap<Int>
  var leaves: LiveMap<Leaf>
  var parts: LiveList<Part>
  var part: Part?
  var mixed: AnyValue
}

@Model final class Leaf {
  @PrimaryKey var id = 0
  var value = 0
  @Inverse(\Owner.members) var owners: LinkingObjects<Owner>
}

@Model(.embedded) final class Part { var value = 0 }

/// A store that observes, and one that writes.
struct Scene {
  let store: Store
  let other: Store

  init() throws {
    var configuration = StoreConfiguration.reference(
      nil,
      models: [
        Thing.self, Goal.self, Second.self, Far.self, Linking.self, Unrelated.self, Chain.self, Owner.self, Leaf.self,
        Part.self,
      ])
    configuration.manualDelivery = true
    store = try Store(configuration)
    other = try Store(configuration)
  }

  /// One commit of the other store.
  func write(_ body: (Store) throws -> Void) throws { try other.write { try body(other) } }
}

/// Items 0 to 9 with the values 0, 2 … 18, each with a goal and a second of its own.
struct ThingScene {
  let scene: Scene

  init() throws {
    scene = try Scene()
    try scene.write { store in
      for i in 0..<10 {
        let item = Thing(number: i, value: i * 2, link: Goal(value: i), second: Second(value: i))
        try store.add(item)
      }
    }
    scene.store.refresh()
  }

  var store: Store { scene.store }
  var other: Store { scene.other }
  var all: Results<Thing> { store.objects(Thing.self) }
  /// Positions 0 to 3 are the items 1 to 4.
  var range: Results<Thing> { all.where { $0.value > 0 && $0.value < 10 } }
  /// Positions 0 to 3 are the items 4 to 1.
  var descending: Results<Thing> { range.sorted(by: \.value, ascending: false) }

  /// An item by number, of the store that writes.
  func item(_ number: Int) throws -> Thing { try #require(other.objects(Thing.self).where { $0.number == number }.first) }

  /// One commit that sets values.
  func set(_ values: [Int: Int]) throws {
    try other.write { for (number, value) in values { try item(number).value = value } }
  }

  /// What an observer hears of some commits, which it is told together.
  func hear(_ results: Results<Thing>, _ commits: () throws -> Void) throws -> [Heard.Call] {
    let heard = Heard()
    let token = results.observe { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    try commits()
    store.refresh()
    token.stop()
    return heard.take()
  }

  /// The same of properties.
  func hear(
    _ results: Results<Thing>, only names: [String], _ commits: () throws -> Void
  ) throws -> [Heard.Call] {
    let heard = Heard()
    let token = try results.observe(observingProperties: names) { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    try commits()
    store.refresh()
    token.stop()
    return heard.take()
  }
}

extension Store {
  /// Adds an object, and returns it.
  @discardableResult func adding<T: Model>(_ object: T) throws -> T {
    try add(object)
    return object
  }
}
