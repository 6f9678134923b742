import Dispatch
import Foundation
import StorageMemory
import Testing
import Vivarium
import VivariumTestSupport

/// What the table of Docs/ComingFromRealm.md says is here, in its order.
enum ComingFromRealm {
  @Model final class Dog {
    #Index<Dog>([\.name, \.age])
    @PrimaryKey var id = UUID()
    @Indexed var name = ""
    @Unique var chip: String?
    var age = 0
    @Transient var visits = 0
    @Inverse(\Person.dogs) var owners: LinkingObjects<Person>
    @Inverse(\Person.best) var bestOf: Person?
  }

  @Model final class Person {
    var firstName = ""
    var dogs: LiveList<Dog>
    var best: Dog?
    var tags: LiveSet<String>
    var extra: LiveMap<Int>
    var warmth = Temperature(persistedValue: 0)
    var address = Address()
  }

  struct Temperature: CustomPersistable {
    var kelvin: Double
    init(persistedValue: Double) { kelvin = persistedValue }
    var persistableValue: Double { kelvin }
  }

  struct Address: PersistableStruct, Equatable {
    var city = ""
  }

  final class Card: Projection<Person> {
    @Projected(\Person.firstName) var name
    @Projected(\Person.best, \Dog.name) var bestName
  }
}

@MainActor @Suite(.timeLimit(.minutes(15))) struct ComingFromRealmTests {
  private typealias Dog = ComingFromRealm.Dog
  private typealias Person = ComingFromRealm.Person

  private let configuration = Store.Configuration.memory(models: Dog.self, Person.self).byHand

  @Test func writing() async throws {
    let store = try Store(configuration)
    let rex = Dog(name: "Rex", age: 4)
    try store.write { try store.add(rex, update: .modified) }
    try store.beginWrite()
    rex.age = 9
    store.cancelWrite()
    try store.beginWrite()
    try store.create(Dog.self, value: ["name": "Taro", "age": 2], update: .modified)
    try store.commitWrite(withoutNotifying: [])
    let reference = rex.reference
    try await store.write { store in reference.resolve(in: store)?.age += 1 }
    let done = AsyncSignal()
    _ = store.writeAsync({ store in try store.add(ComingFromRealm.Dog(name: "Jiro")) }, onComplete: { _ in done.fire() })
    await done.wait()
    store.refresh()
    #expect(rex.age == 5 && store.objects(Dog.self).count == 3)
    try store.write { try store.delete(rex) }
    #expect(rex.isInvalidated && rex.name.isEmpty && rex.age == 0)
    try store.write { try store.deleteAll() }
    #expect(store.objects(Dog.self).isEmpty)
    let opened = try await Store.open(configuration)
    #expect(opened.objects(Dog.self).isEmpty)
  }

  @Test func asking() throws {
    let store = try Store(configuration)
    let ann = Person(firstName: "Ann", address: .init(city: "Ghent"))
    try store.write {
      try store.add(ann)
      for (name, age) in [("Rex", 4), ("Taro", 2), ("Jiro", 7)] { ann.dogs.append(Dog(name: name, age: age)) }
      ann.best = ann.dogs[1]
    }
    let dogs = store.objects(Dog.self)
    #expect(dogs.filter("age > 3").map(\.name) == ["Rex", "Jiro"] && dogs.where { $0.age > 3 }.count == 2)
    #expect(dogs.sorted(by: \.name).map(\.name) == ["Jiro", "Rex", "Taro"])
    #expect(dogs.sorted(byKeyPath: "age", ascending: false).first?.name == "Jiro")
    #expect(dogs[0].owners.first == ann && dogs[1].bestOf == ann)
    #expect(store.objects(Person.self).filter("address.city == %@", "Ghent").count == 1)
    #expect(try store.dynamicObjects("Dog").count == 3)
    let card = ComingFromRealm.Card(ann)
    #expect(card.name == "Ann" && card.bestName == "Taro")
    let frozen = try ann.freeze()
    try store.write { ann.firstName = "Anna" }
    #expect(frozen.firstName == "Ann" && frozen.thaw(in: store)?.firstName == "Anna" && ann.snapshot().firstName == "Anna")
    var configuration = configuration
    configuration.autorefresh = false
    let still = try Store(configuration)
    try store.write { ann.firstName = "Zoe" }
    #expect(still.objects(Person.self).first?.firstName == "Anna")
    #expect(still.refresh() && still.objects(Person.self).first?.firstName == "Zoe")
  }

  @Test func observing() async throws {
    let store = try Store(configuration)
    let person = Person()
    try store.write { try store.add(person) }
    var heard: [String] = []
    let dogs = store.objects(Dog.self)
    let elsewhere = AsyncSignal()
    let queue = DispatchQueue(label: "observer")
    let tokens = [
      dogs.observe { change in
        switch change {
        case .initial: heard.append("initial")
        case .update(_, let deletions, let insertions, let modifications):
          heard.append("\(deletions) \(insertions) \(modifications.new)")
        case .error: heard.append("error")
        }
      },
      dogs.observe(keyPaths: [\.name]) { _ in heard.append("name") },
      try store.objects(Person.self).observe(observingProperties: ["dogs.name"]) { _ in heard.append("dogs.name") },
      try dogs.observe(ignoringProperties: ["age"]) { _ in heard.append("not age") },
      try dogs.observe(throttle: .milliseconds(1)) { _ in },
      try dogs.observe(includingOldValues: true) { _ in },
      dogs.observe(on: queue) { _ in elsewhere.fire() },
      dogs.observe(on: MainActor.shared) { _, _ in elsewhere.fire() },
      person.tags.observe { _ in heard.append("tags") },
      person.extra.observe { _ in heard.append("extra") },
      store.observe { _, _ in heard.append("store") },
    ]
    store.refresh()
    await elsewhere.wait(count: 2)
    heard = []
    try store.write { try store.add(Dog(name: "Rex")) }
    store.refresh()
    #expect(Set(heard) == ["[] [0] []", "name", "not age", "store"])
    heard = []
    try store.write(silently: true) { dogs[0].age = 3 }
    store.refresh()
    #expect(!heard.contains("name"))
    tokens[0].ignore(author: "me")
    tokens[0].invalidate()
    for token in tokens { token.stop() }
  }
}
