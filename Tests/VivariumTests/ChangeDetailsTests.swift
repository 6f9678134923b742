import Testing
import Vivarium
import VivariumTestSupport

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

  @Test func aMapsChangeNamesWhoWroteIt() throws {
    let configuration = StoreConfiguration.reference(nil, models: [Shelf.self, Dog.self, Person.self]).byHand
    let (store, other) = (try Store(configuration), try Store(configuration))
    let (shelf, dog) = (Shelf(), Dog(name: "Rex"))
    try store.write {
      try store.add(shelf)
      shelf.places["bed"] = dog
      shelf.prices["a"] = 1
    }
    var told: [String: [ChangeDetails?]] = [:]
    let tokens = [
      shelf.prices.observe { told["prices", default: []].append($0.details) },
      shelf.places.observe { told["places", default: []].append($0.details) },
    ]
    store.refresh()
    #expect(told["prices"]?.count == 1 && told["prices"]?[0] == nil)
    let before = store.version
    other.refresh()
    let (same, rex) = (try #require(other.resolve(shelf.reference)), try #require(other.resolve(dog.reference)))
    try other.write(author: "ann") { rex.age = 2 }
    try other.write(author: "bob") { same.prices["a"] = 2 }
    try other.write(author: "carl") {
      same.prices["b"] = 3
      same.places["sofa"] = rex
    }
    store.refresh()
    #expect(told["prices"]?.last??.authors == ["bob", "carl"] && told["places"]?.last??.authors == ["ann", "carl"])
    for (name, details) in told {
      let last = try #require(details.last ?? nil, "\(name)")
      #expect(last.origins == .otherStore && last.commits == 3, "\(name)")
      #expect(last.fromVersion == before && last.toVersion == store.version, "\(name)")
      #expect(last.moves.isEmpty && last.deletedMembers.isEmpty && last.insertedMembers.isEmpty, "\(name)")
    }
    // A commit of which the token is not told is none of what it hears next.
    try store.write(withoutNotifying: tokens, author: "me") { shelf.prices["c"] = 4 }
    try store.write { shelf.prices["a"] = nil }
    store.refresh()
    #expect(told["prices"]?.last??.authors == [] && told["prices"]?.last??.origins == .ownStore)
    #expect(told["places"]?.count == 2)
    for token in tokens { token.stop() }
  }

  @Test func aNumbersChangeNamesWhoMadeItAnotherOne() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write { for age in [1, 2, 3] { try store.add(Dog(name: "\(age)", age: age)) } }
    var told: [String: [ChangeDetails]] = [:]
    let dogs = store.objects(Dog.self).where { $0.name != "out" }
    var tokens = [
      dogs.observe(.count) { if let details = $0.details { told["count", default: []].append(details) } },
      dogs.observe(.sum(of: \.age)) { if let details = $0.details { told["sum", default: []].append(details) } },
      dogs.observe(.average(of: \.age)) { if let details = $0.details { told["mean", default: []].append(details) } },
      dogs.observe(.max(of: \.age)) { if let details = $0.details { told["most", default: []].append(details) } },
    ]
    store.refresh()
    #expect(told.isEmpty)
    let start = store.version
    other.refresh()
    let all = other.objects(Dog.self).sorted(by: \.name)
    try other.write(author: "ann") { all[2].age = 9 }
    try other.write(author: "nobody") { try other.add(Person(name: "Ann")) }
    // One more of no age: another count and another mean, and the same sum.
    try other.write(author: "bob") { try other.add(Dog(name: "4", age: 0)) }
    store.refresh()
    // Commits that were taken in one step are not told apart: of those that touched the rows, one made the difference.
    #expect(told["mean"]?.map(\.authors) == [["ann", "bob"]])
    #expect(told["count"]?.first?.authors.last == "bob" && told["most"]?.first?.authors.first == "ann")
    for (name, details) in told {
      #expect(details.count == 1 && details[0].origins == .otherStore && details[0].commits == 3, "\(name)")
      #expect(!details[0].authors.contains("nobody"), "\(name)")
      #expect(details[0].fromVersion == start && details[0].toVersion == store.version, "\(name)")
    }
    // What leaves the sum as it is counts for the mean, and the next sum leads on from the call before.
    let before = store.version
    other.refresh()
    try other.write(author: "carl") { try other.add(Dog(name: "5", age: 0)) }
    store.refresh()
    try store.write(author: "me") { store.objects(Dog.self).where { $0.name == "1" }[0].age = 4 }
    store.refresh()
    #expect(told["mean"]?.map(\.authors).suffix(2) == [["carl"], ["me"]])
    #expect(told["sum"]?.count == 2 && told["sum"]?.last?.authors == ["me"] && told["sum"]?.last?.origins == .ownStore)
    #expect(told["sum"]?.last?.fromVersion == before && told["sum"]?.last?.commits == 2)
    // What came to nothing is nobody's, and a commit of which the token is not told is none of what it hears next.
    let sum = dogs.observe(.sum(of: \.age)) { if let details = $0.details { told["skipping", default: []].append(details) } }
    tokens.append(sum)
    store.refresh()
    other.refresh()
    try other.write(author: "ann") { all[0].age = 70 }
    try other.write(author: "bob") { all[0].age = 4 }
    try store.write(withoutNotifying: [sum], author: "me") { try store.add(Dog(name: "6", age: 6)) }
    other.refresh()
    try other.write(author: "carl") { all[0].age = 5 }
    store.refresh()
    #expect(told["skipping"]?.map(\.authors) == [["carl"]])
    for token in tokens { token.stop() }
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

  @Test func changesPrintPositionsAndVersions() throws {
    #expect("\(ChangedRows(old: [1, 4], new: [1, 4]))" == "[1, 4]")
    #expect("\(ChangedRows(old: [1, 4], new: [0, 3]))" == "[1, 4] → [0, 3]")
    let store = try Store(configuration)
    var told: [ChangeDetails] = []
    let token = store.objects(Node.self).observe { told += [$0.details].compactMap { $0 } }
    store.refresh()
    let before = store.version
    try store.write(author: "ann") { try store.add(Node(label: 1)) }
    store.refresh()
    #expect(told.map { "\($0)" } == ["\(before) to \(store.version) by ann"])
    token.stop()
  }
}
