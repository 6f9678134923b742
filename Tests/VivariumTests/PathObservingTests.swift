import Testing
import Vivarium
import VivariumTestSupport

/// Observers of several properties and of what lies at the end of a path, inside the setter.
@Suite struct PathObservingTests {
  let configuration = makeConfiguration()

  private func makePair(_ store: Store) throws -> (person: Person, dog: Dog) {
    let dog = Dog(name: "Rex", age: 1)
    let person = Person(name: "Ann", best: dog)
    try store.write { try store.add(person) }
    return (person, dog)
  }

  /// What a path over a link told, as "old>new".
  private func told<T>(_ change: ObservedChange<T?>) -> String {
    "\(change.oldValue.flatMap { $0 }.map { "\($0)" } ?? "-")>\(change.newValue.flatMap { $0 }.map { "\($0)" } ?? "-")"
  }

  private func told(_ change: ObservedChange<Any>) -> String {
    "\(change.oldValue.map { "\($0)" } ?? "-")>\(change.newValue.map { "\($0)" } ?? "-")"
  }

  @Test func oneObserverFollowsSeveralProperties() throws {
    let store = try Store(configuration)
    let (person, dog) = try makePair(store)
    var seen: [String] = []
    let token = try person.observe([\.name, \.age, \.best?.name], options: [.initial, .old, .new]) { person, path, change in
      let name = path == \Person.name ? "name" : path == \Person.age ? "age" : "dog"
      seen.append("\(name) \(told(change))")
    }
    #expect(seen == ["name ->Ann", "age ->0", "dog ->Rex"])
    seen = []
    try store.write {
      person.age = 7
      #expect(seen == ["age 0>7"])
      person.nick = "A"
      dog.name = "Max"
      person.name = "Bea"
      dog.age = 3
    }
    #expect(seen == ["age 0>7", "dog Rex>Max", "name Ann>Bea"])
    #expect(token.stop())
    try store.write { person.age = 8 }
    #expect(seen.count == 3)
  }

  @Test(arguments: [true, false]) func thePropertyAtTheEndIsFollowedOverLinks(typed: Bool) throws {
    let store = try Store(configuration)
    let (person, dog) = try makePair(store)
    let other = Dog(name: "Fido")
    try store.write { try store.add(other) }
    var seen: [String] = []
    let token =
      try typed
      ? person.observe(\.best?.name) { _, change in seen.append(told(change)) }
      : person.observe(paths: ["best.name"]) { _, _, change in seen.append(told(change)) }
    try store.write {
      dog.name = "Max"
      dog.name = "Max"
      dog.age = 9
      #expect(seen == ["Rex>Max"])
      // Another object on the way: its value, and from then on its changes.
      person.best = other
      #expect(seen.last == "Max>Fido")
      dog.name = "nobody's"
      other.name = "Bo"
      #expect(seen == ["Rex>Max", "Max>Fido", "Fido>Bo"])
      person.best = nil
      other.name = "nobody's"
      person.best = dog
    }
    #expect(seen == ["Rex>Max", "Max>Fido", "Fido>Bo", "Bo>-", "->nobody's"])
    token.stop()
  }

  @Test(arguments: [true, false]) func anObjectOnTheWayIsDeleted(typed: Bool) throws {
    let store = try Store(configuration)
    let (person, dog) = try makePair(store)
    var seen: [String] = []
    let token =
      try typed
      ? person.observe(\.best?.name) { _, change in seen.append(told(change)) }
      : person.observe(paths: ["best.name"]) { _, _, change in seen.append(told(change)) }
    try store.beginWrite()
    try store.delete(dog)
    #expect(seen == ["Rex>-"])
    store.cancelWrite()
    #expect(seen == ["Rex>-", "->Rex"])
    // Where it begins: as of a property of an object that is gone, there is nothing to say.
    try store.write {
      try store.delete(person)
      dog.name = "Max"
    }
    #expect(seen.count == 2)
    token.stop()
  }

  @Test func refreshesAndCancelledWritesAreToldAlongThePath() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let (person, dog) = try makePair(store)
    let heard = HeardProperties()
    heard.follow(person, \.best?.name) { told($0) }
    heard.follow(store)
    other.refresh()
    let (samePerson, sameDog) = (try #require(other.resolve(person.reference)), try #require(other.resolve(dog.reference)))
    try other.write { sameDog.name = "Max" }
    #expect(heard.take() == [])
    store.refresh()
    #expect(heard.take() == ["Rex>Max", "store"])
    try other.write { samePerson.best = Dog(name: "Fido") }
    try other.write { sameDog.name = "left" }
    store.refresh()
    #expect(heard.take() == ["Max>Fido", "store"])
    try store.beginWrite()
    person.best = nil
    store.cancelWrite()
    #expect(heard.take() == ["Fido>-", "->Fido"])
    try store.beginWrite()
    person.best?.name = "Bo"
    person.best = dog
    store.cancelWrite()
    #expect(heard.take() == ["Fido>Bo", "Bo>left", "left>Fido"])
    heard.stop()
  }

  @Test func aLongWayIsFollowedAtEachOfItsSteps() throws {
    let store = try Store(configuration)
    let nodes = (0..<5).map { Node(label: $0) }
    for i in 0..<4 { nodes[i].next = nodes[i + 1] }
    try store.write { try store.add(nodes[0]) }
    var seen: [String] = []
    let token = nodes[0].observe(\.next?.next?.next?.label) { _, change in seen.append(told(change)) }
    try store.write {
      nodes[3].label = 30
      nodes[4].label = 40
      nodes[1].next = nodes[3]
      nodes[2].next = nil
      nodes[0].next = nodes[0]
      nodes[0].label = 5
    }
    #expect(seen == ["3>30", "30>40", "40>0", "0>5"])
    token.stop()
  }

  /// Each change of an object on the way reads the way once; a change beside it reads nothing.
  @Test func aChangeCostsTheLengthOfThePath() throws {
    let store = try Store(configuration)
    let people = (0..<200).map { Person(name: "\($0)", best: Dog(name: "\($0)")) }
    try store.write { try store.add(people) }
    var seen = 0
    let tokens = people.map { person in person.observe(\.best?.name) { _, _ in seen += 1 } }
    func reads(_ body: () throws -> Void) rethrows -> Int {
      let before = store.pathReadCount
      try body()
      return store.pathReadCount - before
    }
    try store.beginWrite()
    #expect(reads { people[7].best?.name = "Max" } == 1)
    #expect(reads { people[7].best = people[8].best } == 1)
    #expect(reads { people[7].age = 3 } == 0)
    // The dog of two.
    #expect(reads { people[8].best?.name = "Bo" } == 2)
    #expect(try reads { try store.delete(people[9]) } <= 2)
    let dog = try #require(people[8].best)
    #expect(try reads { try store.delete(dog) } <= 4)
    #expect(seen == 6)
    // What the write touched is compared after it: each way once, though it has two steps.
    #expect(try reads { try store.commitWrite() } <= 6)
    let other = try Store(configuration)
    let same = try #require(other.resolve(people[20].reference))
    try other.write { same.best?.name = "Kim" }
    #expect(reads { _ = store.refresh() } == 1 && seen == 7)
    for token in tokens { token.stop() }
  }

  @Test func aPathMayEndInAList() throws {
    let store = try Store(configuration)
    let (first, second) = (Person(name: "Ann"), Person(name: "Bea"))
    let dog = Dog()
    first.best = dog
    second.scores.append(9)
    try store.write { try store.add([first, second]) }
    var seen: [String] = []
    let token = try dog.observe(paths: ["bestOf.scores"]) { _, path, change in
      seen.append("\(path) \(change.kind) \(change.indexes)")
    }
    try store.write {
      first.scores.append(contentsOf: [1, 2])
      first.scores.remove(at: 0)
      first.best = nil
      second.best = dog
      second.scores[0] = 1
    }
    #expect(
      seen == [
        "bestOf.scores insertion [0, 1]", "bestOf.scores removal [0]", "bestOf.scores setting []", "bestOf.scores setting []",
        "bestOf.scores replacement [0]",
      ])
    token.stop()
  }

  @Test func whatAKeyPathReadsIsFollowedWhateverItIs() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann", age: 17)
    try store.write { try store.add(person) }
    var seen: [String] = []
    let tokens = [
      person.observe(\.isAdult) { _, change in seen.append("adult \(change.newValue ?? false)") },
      person.observe(\.dogs.first?.name) { _, change in seen.append("first \(told(change))") },
      person.observe(\.dogs.count) { _, change in seen.append("count \(change.newValue ?? -1)") },
    ]
    try store.write {
      person.age = 18
      person.age = 19
      person.dogs.append(Dog(name: "Rex"))
      person.dogs.insert(Dog(name: "Max"), at: 0)
      person.dogs[0].name = "Bo"
      person.dogs[1].name = "not the first"
    }
    #expect(seen == ["adult true", "first ->Rex", "count 1", "first Rex>Max", "count 2", "first Max>Bo"])
    for token in tokens { token.stop() }
  }

  @Test func priorComesBeforeAChangeOnTheWay() throws {
    let store = try Store(configuration)
    let (person, dog) = try makePair(store)
    var seen: [String] = []
    let token = person.observe(\.best?.name, options: [.prior, .old, .new]) { person, change in
      seen.append("\(person.best?.name ?? "-") \(change.isPrior)")
    }
    try store.write {
      dog.name = "Max"
      person.best = nil
    }
    #expect(seen == ["Rex true", "Max false", "Max true", "- false"])
    token.stop()
  }

  @Test func aHandlerAtTheEndOfAPathMustNotWriteEither() throws {
    let store = try Store(configuration)
    let (person, dog) = try makePair(store)
    var codes: [StoreError.Code] = []
    let token = person.observe(\.best?.name) { person, _ in
      do throws(StoreError) { try store.add(Dog()) } catch { codes.append(error.code) }
    }
    try store.write { dog.name = "Max" }
    #expect(codes == [.writeInObserver] && store.objects(Dog.self).count == 1)
    token.stop()
  }

  // MARK: In no store

  @Test func pathsOfObjectsInNoStoreAreFollowedByName() throws {
    let (person, dog, other) = (Person(name: "Ann"), Dog(name: "Rex"), Dog(name: "Fido"))
    var seen: [String] = []
    let token = try person.observe(paths: ["name", "best.name"]) { _, path, change in seen.append("\(path) \(told(change))") }
    person.best = dog
    dog.name = "Max"
    person.name = "Bea"
    person.best = other
    dog.name = "nobody's"
    person.best = nil
    #expect(seen == ["best.name ->Rex", "best.name Rex>Max", "name Ann>Bea", "best.name Max>Fido", "best.name Fido>-"])
    #expect(token.stop())
    person.best = dog
    #expect(seen.count == 5)
  }

  @Test func observersOfPathsGoIntoAStoreWithTheObjects() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let (person, dog) = (Person(name: "Ann"), Dog(name: "Rex"))
    person.best = dog
    var seen: [String] = []
    let tokens = [
      try person.observe(paths: ["best.name"]) { person, _, change in
        seen.append("\(told(change))\(person.isManaged ? "m" : "")")
      },
      try person.observe(paths: ["best.age"]) { _, _, change in seen.append("age") },
    ]
    try store.write {
      try store.add(dog)
      #expect(seen == [])
      // One end is in the store, the other is not.
      dog.name = "Max"
      #expect(seen == ["Rex>Max"])
      try store.add(person)
      person.best?.name = "Bo"
    }
    #expect(seen == ["Rex>Max", "Max>Bom"])
    other.refresh()
    let same = try #require(other.resolve(person.reference))
    try other.write { same.best = nil }
    store.refresh()
    #expect(seen == ["Rex>Max", "Max>Bom", "Bo>-m", "age"])
    for token in tokens { token.stop() }
  }

  @Test func aListAtTheEndIsFollowedWhereverItsObjectIs() throws {
    let store = try Store(.reference(nil, models: [Reel.self]))
    let root = Reel(label: "a", next: Reel(label: "b"))
    var seen: [String] = []
    let token = try root.observe(paths: ["next.notes"]) { _, _, change in seen.append("\(change.kind) \(change.indexes)") }
    let (first, second) = (root.next, Reel(label: "c"))
    first?.notes.append("x")
    root.next = second
    first?.notes.append("nobody's")
    second.notes.append("y")
    #expect(seen == ["insertion [0]", "setting []", "insertion [0]"])
    try store.write {
      try store.add(root)
      second.notes.append("z")
    }
    #expect(seen.dropFirst(3) == ["insertion [1]"])
    token.stop()
  }

  @Test func anObserverOfAPathKeepsNoObjectAlive() throws {
    weak var gone: Person?
    var token: NotificationToken?
    do {
      let person = Person(name: "Ann")
      person.best = Dog()
      gone = person
      token = try person.observe(paths: ["best.name"]) { _, _, _ in }
    }
    #expect(gone == nil)
    token?.stop()
  }

  // MARK: Refusals

  @Test func pathsThatLeadNowhereAreRefused() throws {
    let store = try Store(configuration)
    let (person, dog) = try makePair(store)
    func code(_ body: () throws(StoreError) -> NotificationToken) -> StoreError.Code? {
      do throws(StoreError) {
        try body().stop()
        return nil
      } catch {
        return error.code
      }
    }
    func refused(_ object: Person, _ path: String) -> StoreError.Code? {
      code { () throws(StoreError) in try object.observe(paths: ["name", path]) { _, _, _ in } }
    }
    for object in [person, Person()] {
      #expect(refused(object, "best.name") == nil)
      #expect(refused(object, "best.colour") == .unknownProperty)
      #expect(refused(object, "colour") == .unknownProperty)
      #expect(refused(object, "") == .unknownProperty)
      #expect(refused(object, "dogs.name") == .notToOne)
      #expect(refused(object, "name.length") == .notToOne)
    }
    #expect(code { () throws(StoreError) in try Person().observe([\.best?.name]) { _, _, _ in } } == .notManaged)
    #expect(code { () throws(StoreError) in try person.observe([\.name, \.visits]) { _, _, _ in } } == .unknownProperty)
    #expect(!person.observe(\.visits) { _, _ in }.isActive && !Person().observe(\.best?.name) { _, _ in }.isActive)
    try store.write { try store.delete(person) }
    #expect(refused(person, "best.name") == .objectDeleted)
    // A refusal leaves nobody who listens.
    try store.write { dog.name = "Max" }
    #expect(store.pathReadCount < 20)
  }

  @Test func aRefusedPathIsRefusedBeforeAnythingIsTold() throws {
    let store = try Store(configuration)
    let (person, _) = try makePair(store)
    var calls = 0
    #expect { try person.observe([\.name, \.visits], options: [.initial]) { _, _, _ in calls += 1 } } throws: {
      StoreError.Code.unknownProperty ~= $0
    }
    #expect { try Person().observe([\.name, \.best?.name], options: [.initial]) { _, _, _ in calls += 1 } } throws: {
      StoreError.Code.notManaged ~= $0
    }
    try store.write { person.name = "Bea" }
    #expect(calls == 0)
  }

  // MARK: Additions

  /// An added object that points to one that is there changes that one's inverse, and an update its values: inside `add`.
  @Test func anAdditionTellsWhatItChangesInObjectsThatWereThere() throws {
    let store = try Store(configuration)
    let (person, dog) = (Person(name: "Ann", age: 1), Dog(name: "Rex"))
    try store.write { try store.add([person]) }
    try store.write { try store.add(dog) }
    var seen: [String] = []
    let tokens = [
      try dog.observe(paths: ["bestOf.name"]) { _, _, change in seen.append("dog \(told(change))") },
      person.observe(\.age) { _, change in seen.append("age \(change.newValue ?? -1)") },
    ]
    try store.write {
      try store.add(Person(name: "Bea", best: dog))
      #expect(seen == ["dog ->Bea"])
      try store.add(Person(id: person.id, name: "Ann", age: 2), update: .modified)
      #expect(seen == ["dog ->Bea", "age 2"])
    }
    #expect(seen.count == 2)
    for token in tokens { token.stop() }
  }
}

@Model final class Reel {
  var label = ""
  var next: Reel?
  var notes: LiveList<String>
}
