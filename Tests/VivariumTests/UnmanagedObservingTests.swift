import Testing
import Vivarium
import VivariumTestSupport

/// Observers of single properties of objects that are in no store, and go into one.
@Suite struct UnmanagedObservingTests {
  let configuration = makeConfiguration()

  @Test func anObjectInNoStoreIsObservedInsideTheSetter() {
    let dog = Dog(name: "Rex", age: 1)
    var seen: [String] = []
    let token = dog.observe(\.age) { dog, change in
      seen.append("\(dog.name) \(change.oldValue ?? -1) -> \(change.newValue ?? -1)")
    }
    #expect(seen == [] && token.isActive)
    dog.age = 2
    #expect(seen == ["Rex 1 -> 2"])
    // An equal value is no change.
    dog.age = 2
    dog.name = "Max"
    dog.age += 1
    #expect(seen == ["Rex 1 -> 2", "Max 2 -> 3"])
    #expect(token.stop() && !token.stop())
    dog.age = 9
    #expect(seen.count == 2)
  }

  @Test func anObserverStaysWithAnObjectThatIsAdded() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dog = Dog(name: "Rex", age: 1)
    var seen = ""
    let token = dog.observe(\.age) { dog, change in
      seen += " \(change.oldValue ?? -1)>\(change.newValue ?? -1)\(dog.isManaged ? "m" : "")"
    }
    dog.age = 2
    try store.write {
      try store.add(dog)
      #expect(seen == " 1>2")
      dog.age = 3
    }
    #expect(seen == " 1>2 2>3m")
    other.refresh()
    let same = try #require(other.resolve(dog.reference))
    try other.write { same.age = 4 }
    store.refresh()
    #expect(seen == " 1>2 2>3m 3>4m")
    try store.beginWrite()
    dog.age = 5
    store.cancelWrite()
    #expect(seen == " 1>2 2>3m 3>4m 4>5m 5>4m")
    #expect(token.stop())
    try store.write { dog.age = 6 }
    #expect(seen.hasSuffix("5>4m"))
  }

  @Test func aDroppedTokenEndsTheObservationInAStoreToo() throws {
    let store = try Store(configuration)
    let dog = Dog(age: 1)
    var count = 0
    var token: NotificationToken? = dog.observe(\.age) { _, _ in count += 1 }
    try store.write { try store.add(dog) }
    token?.stop()
    token = nil
    try store.write { dog.age = 2 }
    #expect(count == 0)
  }

  @Test func optionsAreThoseOfAStoresObject() {
    let dog = Dog(name: "Rex", age: 1)
    var seen: [[Int?]] = []
    let token = dog.observe(\.age, options: [.initial, .new, .prior]) { _, change in
      seen.append([change.oldValue, change.newValue, change.isPrior ? 1 : 0])
    }
    #expect(seen == [[nil, 1, 0]])
    dog.age = 2
    #expect(seen == [[nil, 1, 0], [nil, nil, 1], [nil, 2, 0]])
    token.stop()
  }

  @Test func aListInNoStoreTellsPositionsAndGoesIntoOne() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    var seen: [String] = []
    let token = person.observe(\.scores) { person, change in
      seen.append("\(change.kind) \(change.indexes) \(person.scores.count)")
    }
    person.scores.append(contentsOf: [1, 2, 3])
    person.scores.swapAt(0, 1)
    person.scores.remove(at: 1)
    #expect(seen == ["insertion [0, 1, 2] 3", "replacement [0, 1] 3", "removal [1] 2"])
    // Another list, whose edits are followed from then on, and those of the first are not.
    let (first, second) = (person.scores, LiveList([7.0]))
    person.scores = second
    first.append(9)
    second[0] = 8
    #expect(seen.dropFirst(3) == ["setting [] 1", "replacement [0] 1"])
    seen = []
    try store.write {
      try store.add(person)
      second.append(1)
      #expect(seen == [])
      person.scores.append(5)
    }
    #expect(seen == ["insertion [1] 2"] && person.scores.toArray() == [8, 5])
    token.stop()
  }

  @Test func setsAndMapsTellThatTheyChanged() {
    let shop = Shop()
    var seen: [String] = []
    let tokens = [
      shop.observe(\.tags) { shop, _ in seen.append("tags \(shop.tags.count)") },
      shop.observe(\.phones) { shop, _ in seen.append("phones \(shop.phones.count)") },
    ]
    shop.tags.insert("a")
    shop.tags.insert("a")
    shop.tags.remove("b")
    shop.phones["home"] = "1"
    shop.phones["home"] = "1"
    shop.phones.removeAll()
    shop.tags.removeAll()
    #expect(seen == ["tags 1", "phones 1", "phones 0", "tags 0"])
    for token in tokens { token.stop() }
  }

  @Test func linkedObjectsKeepTheirObserversWhenTheyComeAlong() throws {
    let store = try Store(configuration)
    let (person, dog) = (Person(name: "Ann"), Dog(name: "Rex"))
    var seen: [String] = []
    let tokens = [
      person.observe(\.best) { _, change in seen.append("best \(change.newValue.flatMap { $0 }?.name ?? "-")") },
      dog.observe(\.name) { _, change in seen.append("name \(change.newValue ?? "-")") },
      dog.observe(\.isInvalidated) { _, change in seen.append("gone \(change.newValue ?? false)") },
    ]
    person.best = dog
    person.best = dog
    try store.write {
      try store.add(person)
      dog.name = "Max"
    }
    #expect(seen == ["best Rex", "name Max"])
    try store.write { try store.delete(dog) }
    #expect(Set(seen.dropFirst(2)) == ["best -", "gone true"])
    for token in tokens { token.stop() }
  }

  @Test func anAddThatFailsLeavesTheObserversWithTheObject() throws {
    var configuration = StoreConfiguration.reference(nil, models: [Message.self])
    configuration.manualDelivery = true
    let store = try Store(configuration)
    try store.write { try store.add(Message(number: 1, shout: "a")) }
    let message = Message(number: 1, shout: "b")
    var seen: [String] = []
    let token = message.observe(\.text) { _, change in seen.append(change.newValue ?? "-") }
    try store.write {
      #expect { try store.add(message) } throws: { StoreError.Code.primaryKeyExists ~= $0 }
      message.text = "free"
      message.number = 2
      try store.add(message)
      message.text = "kept"
      // The next object does not get them.
      try store.add(Message(number: 3, shout: "c"))
    }
    #expect(seen == ["free", "kept"] && store.objects(Message.self).count == 3)
    token.stop()
  }

  @Test func aHandlerMaySetWhatIsInNoStore() {
    let dog = Dog(name: "Rex", age: 1)
    let token = dog.observe(\.age) { dog, change in
      dog.name = "is \(change.newValue ?? 0)"
      if dog.age < 5 { dog.age += 1 }
    }
    dog.age = 3
    #expect(dog.age == 5 && dog.name == "is 5")
    token.stop()
  }

  @Test func anObserverKeepsNoObjectAlive() {
    weak var gone: Dog?
    var token: NotificationToken?
    do {
      let dog = Dog(name: "Rex")
      gone = dog
      token = dog.observe(\.name) { _, _ in }
    }
    #expect(gone == nil)
    token?.stop()
  }
}
