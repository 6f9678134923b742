import Testing
import Vivarium
import VivariumTestSupport

/// An inverse that is declared as one object is the first of those that point there: who observes it hears of that one alone.
@Suite struct InverseToOneTests {
  private struct World {
    let store: Store
    let other: Store

    /// One person, and the dog that is best.
    init() throws {
      let configuration = makeConfiguration()
      (store, other) = (try Store(configuration), try Store(configuration))
      let ann = Person(name: "Ann")
      ann.best = Dog(name: "Rex")
      try store.write { try store.add(ann) }
      other.refresh()
    }

    var rexes: Results<Dog> { store.objects(Dog.self).where { $0.name == "Rex" } }
  }

  @Test func observersHearOfTheFirstThatPointsThereAlone() throws {
    let world = try World()
    let (store, other, rexes) = (world.store, world.other, world.rexes)
    let rex = rexes[0]
    let (own, behind, window, whole, object) = (Heard(), Heard(), Heard(), Heard(), HeardObject { $0.name })
    let tokens = [
      try rexes.observe(observingProperties: ["bestOf"]) { own.hear($0) },
      try rexes.observe(observingProperties: ["bestOf.name"]) { behind.hear($0) },
      try rexes.sorted(by: \.age).limited(to: 5).observe(observingProperties: ["bestOf.name"]) { window.hear($0) },
      try rexes.distinct(by: \.name).observe(observingProperties: ["bestOf.name"]) { whole.hear($0) },
      try rex.observe(observingProperties: ["bestOf.name"]) { object.hear($0) },
    ]
    store.refresh()
    for heard in [own, behind, window, whole] { #expect(heard.take() == [.initial(1)]) }
    // Who the first is after each write, and who heard of it: observers of the inverse, and of what lies behind it.
    var told: [String] = []
    func after(_ change: () throws -> Void) throws {
      try other.write { try change() }
      store.refresh()
      let once = [Heard.update([], [], [0])]
      let (isInverse, isBehind) = (own.take() == once, behind.take() == once)
      #expect(window.take() == (isBehind ? once : []) && whole.take() == (isBehind ? once : []))
      #expect(object.take() == (isBehind ? ["bestOf"] : []))
      told.append((rex.bestOf?.name ?? "nobody") + (isInverse ? " inverse" : "") + (isBehind ? " behind" : ""))
    }
    let (theirs, ann, bob) = (other.objects(Dog.self)[0], other.objects(Person.self)[0], Person(name: "Bob"))
    try after {
      try other.add(bob)
      bob.best = theirs
    }
    try after { bob.name = "Rob" }
    try after { ann.name = "Anna" }
    try after { ann.best = nil }
    try after { ann.name = "Ann" }
    try after { bob.name = "Bob" }
    try after { ann.best = theirs }
    try after { bob.best = nil }
    try after { bob.best = theirs }
    try after { try other.delete(ann) }
    try after { try other.delete(bob) }
    #expect(
      told == [
        "Ann", "Ann", "Anna behind", "Rob inverse behind", "Rob", "Bob behind", "Ann inverse behind", "Ann", "Ann",
        "Bob inverse behind", "nobody inverse behind",
      ])
    for token in tokens { token.stop() }
  }

  /// On the way, too: the dogs of whoever is the first.
  @Test func whatLiesBehindTheSecondIsNotOnTheWay() throws {
    let world = try World()
    let (store, other) = (world.store, world.other)
    let heard = Heard()
    let token = try world.rexes.observe(observingProperties: ["bestOf.dogs.age"]) { heard.hear($0) }
    let (theirs, ann, bob) = (other.objects(Dog.self)[0], other.objects(Person.self)[0], Person(name: "Bob"))
    let (max, tim) = (Dog(name: "Max"), Dog(name: "Tim"))
    try other.write {
      try other.add(bob)
      bob.best = theirs
      bob.dogs.append(max)
      ann.dogs.append(tim)
    }
    store.refresh()
    #expect(heard.take() == [.initial(1)])
    try other.write { max.age = 1 }
    store.refresh()
    #expect(heard.take() == [])
    try other.write { bob.dogs.append(Dog(name: "Bea")) }
    store.refresh()
    #expect(heard.take() == [])
    try other.write { tim.age = 1 }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [0])])
    try other.write { ann.best = nil }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [0])])
    try other.write { max.age = 2 }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [0])])
    try other.write { tim.age = 2 }
    store.refresh()
    #expect(heard.take() == [])
    token.stop()
  }
}
