import TestSupport
import Testing
import Vivarium

/// What a change says of the commits that it comes from: between which versions they lie, who wrote them, and where.
@Suite struct ChangeDetailsTests {
  let configuration = makeConfiguration()

  @Test func everyKindOfChangeNamesWhoWroteIt() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let ann = Person(name: "Ann")
    try store.write {
      try store.add(ann)
      ann.dogs.append(Dog(name: "Rex", age: 1))
    }
    var told: [String: ChangeDetails] = [:]
    let tokens = [
      store.objects(Dog.self).observe { told["results"] = $0.details },
      ann.dogs.observe { told["list"] = $0.details },
      ann.dogs[0].observe { told["object"] = $0.details },
      ann.dogs[0].owners.observe { told["inverse"] = $0.details },
      try ann.observe(observingProperties: ["dogs.age"]) { told["path"] = $0.details },
      ann.observe { told["owner"] = $0.details },
    ]
    store.refresh()
    #expect(told.isEmpty)
    let before = store.version
    other.refresh()
    let rex = other.objects(Dog.self)[0]
    // What lies behind a list is looked at after the list itself; the order is that of the commits all the same.
    try other.write(author: "ann") { rex.age = 2 }
    try other.write(author: "nobody") { try other.add(Node(label: 1)) }
    try other.write(author: "bob") {
      rex.name = "Max"
      rex.age = 3
      other.objects(Person.self)[0].dogs.append(Dog(name: "Bea", age: 1))
    }
    store.refresh()
    for name in ["results", "list", "object", "inverse", "path"] {
      #expect(told[name]?.authors == ["ann", "bob"] && told[name]?.origins == .otherStore, "\(name)")
    }
    // The object's own properties were touched by one commit alone.
    #expect(told["owner"]?.authors == ["bob"] && told["owner"]?.origins == .otherStore)
    for (name, details) in told {
      #expect(details.fromVersion == before && details.toVersion == store.version && details.commits == 3, "\(name)")
    }
    for token in tokens { token.stop() }
  }

  @Test func nobodyIsNamedTwiceOrForWhatWasToldBefore() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    var told: [ChangeDetails] = []
    let token = dog.observe { if let details = $0.details { told.append(details) } }
    store.refresh()
    other.refresh()
    let same = other.objects(Dog.self)[0]
    for age in 2...4 { try other.write(author: "ann") { same.age = age } }
    store.refresh()
    try store.write { dog.age = 5 }
    store.refresh()
    // A commit of which the token is not told is none of what it hears next.
    try store.write(withoutNotifying: [token], author: "me") { dog.age = 6 }
    other.refresh()
    try other.write(author: "bob") { same.age = 7 }
    store.refresh()
    #expect(told.map(\.authors) == [["ann"], [], ["bob"]])
    #expect(told.map(\.origins) == [.otherStore, .ownStore, .otherStore])
    token.stop()
  }

  @Test func aDeletionHasNoDetails() throws {
    let store = try Store(configuration)
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    var told: [Bool] = []
    let token = dog.observe { told.append($0.details == nil) }
    store.refresh()
    try store.write { try store.delete(dog) }
    store.refresh()
    #expect(told == [true])
    token.stop()
  }
}
