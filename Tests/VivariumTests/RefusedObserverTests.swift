import Dispatch
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// Observations that cannot begin: of what an object had that is gone, and elsewhere than in the store's context.
@Suite struct RefusedObserverTests {
  private func makeConfiguration(misuse: MisusePolicy = .trapInDebug) -> StoreConfiguration {
    var configuration = StoreConfiguration.reference(
      nil, models: [Shop.self, Clerk.self, Place.self, Room.self, Person.self, Dog.self])
    configuration.misuse = misuse
    configuration.manualDelivery = true
    return configuration
  }

  private func filledStore() throws -> (Store, Person, Shop, Dog) {
    let store = try Store(makeConfiguration(), isolation: nil)
    let (person, shop, dog) = (Person(name: "Ann"), Shop(), Dog(name: "Rex"))
    try store.write {
      try store.add(person)
      try store.add(shop)
      person.dogs.append(dog)
      shop.tags.insert("a")
      shop.phones["home"] = "1"
    }
    return (store, person, shop, dog)
  }

  /// What observers heard, each under its name.
  private final class Told {
    private var calls: [String] = []

    func hear<C>(_ name: String, _ change: CollectionChange<C>) {
      switch change {
      case .initial: calls.append("\(name) initial")
      case .update(_, let deletions, let insertions, _): calls.append("\(name) -\(deletions) +\(insertions)")
      case .error(let error): calls.append("\(name) \(error.code.rawValue)")
      }
    }

    func hear<V>(_ change: MapChange<V>) {
      switch change {
      case .initial: calls.append("map initial")
      case .update(_, let deletions, let insertions, _): calls.append("map -\(deletions) +\(insertions)")
      case .error(let error): calls.append("map \(error.code.rawValue)")
      }
    }

    func take() -> [String] {
      defer { calls = [] }
      return calls.sorted()
    }
  }

  @Test func collectionsOfAnObjectThatIsGoneSayThatAndNothingElse() throws {
    let (store, person, shop, dog) = try filledStore()
    try store.write {
      try store.delete(person)
      try store.delete(shop)
      try store.delete(dog)
    }
    let told = Told()
    let tokens = [
      person.dogs.observe { told.hear("list", $0) }, shop.tags.observe { told.hear("set", $0) },
      shop.phones.observe { told.hear($0) }, dog.owners.observe { told.hear("inverse", $0) },
      try person.dogs.observe(observingProperties: ["name"]) { told.hear("named", $0) },
      try dog.owners.observe(observingProperties: ["name"]) { told.hear("owners", $0) },
    ]
    // Never inside the call.
    #expect(told.take() == [])
    store.refresh()
    #expect(
      told.take() == ["inverse", "list", "map", "named", "owners", "set"].map { "\($0) objectDeleted" })
    try store.write { try store.add(Dog()) }
    store.refresh()
    #expect(told.take() == [])
    for token in tokens { token.stop() }
  }

  @Test func soTheyDoInAnotherContext() throws {
    let (store, person, _, dog) = try filledStore()
    try store.write {
      try store.delete(person)
      try store.delete(dog)
    }
    let queue = DispatchQueue(label: "observing")
    let heard = Mailbox<StoreError.Code?>(empty: nil)
    let list = person.dogs.observe(on: queue) { change in
      if case .error(let error) = change { heard.send(error.code) } else { heard.send(nil) }
    }
    #expect(heard.next() == .objectDeleted)
    let inverse = dog.owners.observe(on: queue) { change in
      if case .error(let error) = change { heard.send(error.code) } else { heard.send(nil) }
    }
    #expect(heard.next() == .objectDeleted)
    list.stop()
    inverse.stop()
    queue.sync {}
  }

  @Test func collectionsWhoseObjectGoesHearThatTheyAreEmptyOnce() throws {
    let (store, person, shop, dog) = try filledStore()
    let told = Told()
    let tokens = [
      person.dogs.observe { told.hear("list", $0) }, shop.tags.observe { told.hear("set", $0) },
      shop.phones.observe { told.hear($0) }, dog.owners.observe { told.hear("inverse", $0) },
    ]
    store.refresh()
    _ = told.take()
    try store.write {
      try store.delete(person)
      try store.delete(shop)
    }
    store.refresh()
    #expect(told.take() == ["inverse -[0] +[]", "list -[0] +[]", "map -[\"home\"] +[]", "set -[0] +[]"])
    try store.write { try store.add(Person(name: "Bea")) }
    store.refresh()
    #expect(told.take() == [])
    for token in tokens { token.stop() }
  }

  @Test func aPropertyOfAnObjectThatIsGoneIsNotObserved() throws {
    let (store, _, _, dog) = try filledStore()
    try store.write { try store.delete(dog) }
    var calls: [String] = []
    let token = dog.observe(\.name, options: [.initial, .new]) { _, change in calls.append(change.newValue ?? "-") }
    #expect(!token.isActive && calls == [])
    // But that it is gone can be.
    let gone = dog.observe(\.isInvalidated, options: [.initial, .new]) { _, change in
      calls.append("gone \(change.newValue ?? false)")
    }
    #expect(gone.isActive && calls == ["gone true"])
    #expect { try dog.observe([\.name]) { _, _, _ in } } throws: { StoreError.Code.objectDeleted ~= $0 }
    gone.stop()
  }

  @Test func elsewhereThanInItsContextNothingOfAStoreIsObserved() throws {
    let desk = try Desk(makeConfiguration(misuse: .ignore))
    try desk.use { store in
      try store.write {
        let (person, shop) = (Person(name: "Ann"), Shop())
        try store.add(person)
        try store.add(shop)
        person.dogs.append(Dog(name: "Rex"))
      }
      store.refresh()
    }
    // Everything that can be observed, made where it may be.
    let (store, person, shop, dog) = try desk.use { store in
      (
        store, try #require(store.objects(Person.self).first), try #require(store.objects(Shop.self).first),
        try #require(store.objects(Dog.self).first)
      )
    }
    let people = try desk.use { $0.objects(Person.self) }
    let bound = people.filter(bind: dog, \.age) { person, age in person.age > age }
    let filtered = people.filter(reading: [\.name]) { $0.name.isEmpty }
    let (dogs, tags, phones, owners) = try desk.use { _ in (person.dogs, shop.tags, shop.phones, dog.owners) }
    let tokens = [
      store.observe { _, _ in }, people.observe { _ in }, people.observe(keyPaths: [\.name]) { _ in },
      people.observe(.count) { _ in }, bound.observe { _ in }, filtered.observe { _ in }, dogs.observe { _ in },
      tags.observe { _ in }, phones.observe { _ in },
      owners.observe { _ in }, person.observe { _ in }, person.observe(keyPaths: [\.name]) { _ in },
      person.observe(\.name) { _, _ in }, person.observe(\.best?.name) { _, _ in },
    ]
    #expect(tokens.allSatisfy { !$0.isActive })
    let throwing: [() throws -> NotificationToken] = [
      { try people.observe(observingProperties: ["name"]) { _ in } },
      { try people.observe(ignoringProperties: ["name"]) { _ in } },
      { try people.observe(throttle: .seconds(1)) { _ in } },
      { try bound.observe(observingProperties: ["name"]) { _ in } },
      { try dogs.observe(observingProperties: ["name"]) { _ in } },
      { try tags.observe(observingProperties: []) { _ in } },
      { try phones.observe(observingProperties: []) { _ in } },
      { try owners.observe(observingProperties: ["name"]) { _ in } },
      { try person.observe(observingProperties: ["name"]) { _ in } },
      { try person.observe(ignoringProperties: ["name"]) { _ in } },
      { try person.observe([\.name]) { _, _, _ in } }, { try person.observe(paths: ["name"]) { _, _, _ in } },
    ]
    for observe in throwing {
      #expect { _ = try observe() } throws: { StoreError.Code.wrongContext ~= $0 }
    }
    try desk.use { store in
      let token = store.observe { _, _ in }
      #expect(token.stop() && !dogs.isEmpty && !owners.isEmpty && tags.isEmpty && phones.isEmpty)
    }
    desk.queue.sync { desk.store = nil }
  }
}
