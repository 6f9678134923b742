import Foundation
import StoreValues
import Synchronization
import Testing
import Vivarium

@Suite struct PropertyObservingTests {
  let configuration = makeConfiguration()

  private func makeDog(_ store: Store) throws -> Dog {
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    return dog
  }

  @Test func theHandlerRunsInsideTheSetter() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    var seen: [String] = []
    let token = dog.observe(\.age) { dog, change in
      seen.append("\(dog.name) \(change.oldValue ?? -1) -> \(change.newValue ?? -1)")
    }
    #expect(seen == [])
    try store.write {
      dog.age = 2
      #expect(seen == ["Rex 1 -> 2"])
      dog.age += 1
      dog.age = 3
      dog.name = "Max"
    }
    #expect(seen == ["Rex 1 -> 2", "Rex 2 -> 3"])
    token.stop()
    try store.write { dog.age = 9 }
    #expect(seen.count == 2)
  }

  @Test func theHandlerCannotEndTheWriteItRunsIn() throws {
    let store = try makeStore(misuse: .ignore)
    let dog = try makeDog(store)
    var codes: [StoreError.Code?] = []
    let token = dog.observe(\.age, options: [.prior]) { _, change in
      store.cancelWrite()
      store.invalidate()
      do throws(StoreError) { try store.commitWrite() } catch { codes.append(error.code) }
    }
    try store.write {
      dog.age = 2
      #expect(store.isInWriteTransaction && dog.age == 2)
    }
    #expect(codes == [.writeInObserver, .writeInObserver] && dog.age == 2)
    token.stop()
  }

  @Test func optionsSayWhatIsTold() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    var seen: [[Int?]] = []
    let token = dog.observe(\.age, options: [.initial, .new, .prior]) { _, change in
      seen.append([change.oldValue, change.newValue, change.isPrior ? 1 : 0])
    }
    #expect(seen == [[nil, 1, 0]])
    try store.write { dog.age = 2 }
    #expect(seen == [[nil, 1, 0], [nil, nil, 1], [nil, 2, 0]])
    token.stop()
  }

  @Test func aRefreshAndACancelledWriteAreTold() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dog = try makeDog(store)
    let heard = HeardProperties()
    heard.follow(dog, \.age) { "\($0.oldValue ?? -1)>\($0.newValue ?? -1)" }
    heard.follow(store)
    other.refresh()
    let same = try #require(other.resolve(dog.reference))
    try other.write { same.age = 2 }
    try other.write { same.age = 5 }
    #expect(heard.take() == [])
    store.refresh()
    #expect(heard.take() == ["1>5", "store"])
    try store.beginWrite()
    dog.age = 6
    store.cancelWrite()
    #expect(heard.take() == ["5>6", "6>5"])
    heard.stop()
  }

  /// All handlers of a refresh see one version; what came meanwhile is told by the next one.
  @Test func aHandlerCannotMoveTheStoreOn() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dogs = (0..<40).map { Dog(name: "\($0)") }
    try store.write { try store.add(dogs) }
    other.refresh()
    let same = try dogs.map { dog in try #require(other.resolve(dog.reference)) }
    try other.write { same[0].age = 1 }
    let first = other.version
    var seen: [String] = []
    let tokens = dogs.enumerated().map { i, dog in
      dog.observe(\.age) { _, change in
        seen.append("\(i) \(change.newValue ?? -1)")
        if other.version > first { return }
        do { try other.write { for dog in same { dog.age += 1 } } } catch { Issue.record(error) }
        #expect(!store.refresh() && store.version == first)
      }
    }
    store.refresh()
    #expect(seen == ["0 1"] && store.version == first)
    store.refresh()
    #expect(Set(seen.dropFirst()) == Set((0..<40).map { "\($0) \($0 == 0 ? 2 : 1)" }) && seen.count == 41)
    for token in tokens { token.stop() }
  }

  /// What is told as the old value is an object of the store.
  @Test(arguments: [true, false], [true, false]) func anObserverThatWasStoppedKeepsNoStoreAlive(
    isEarly: Bool, changes: Bool
  ) throws {
    weak var gone: Store?
    do {
      let store = try Store(configuration)
      gone = store
      let person = Person(name: "Ann", best: Dog(name: "Rex"))
      var old: [String] = []
      func observe() throws -> [NotificationToken] {
        [
          person.observe(\.best) { _, change in old.append(change.oldValue.flatMap { $0 }?.name ?? "-") },
          try person.observe(paths: ["best"]) { _, _, change in old.append((change.oldValue as? Dog)?.name ?? "-") },
        ]
      }
      var tokens = try isEarly ? observe() : []
      try store.write { try store.add(person) }
      if !isEarly { tokens = try observe() }
      if changes { try store.write { person.best = Dog(name: "Max") } }
      #expect(old == (changes ? ["Rex", "Rex"] : []))
      for token in tokens { token.stop() }
    }
    #expect(gone == nil)
  }

  /// Also where the write has nothing to commit then, and where many other objects are observed.
  @Test(arguments: [0, 40]) func aSavepointThatIsUndoneTakesValuesBack(others: Int) throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    let crowd = (0..<others).map { Dog(name: "\($0)") }
    try store.write { try store.add(crowd) }
    var seen = ""
    let token = dog.observe(\.age) { _, change in seen += " \(change.oldValue ?? -1)>\(change.newValue ?? -1)" }
    let tokens = crowd.map { dog in dog.observe(\.age) { _, _ in seen += " other" } }
    struct Refused: Error {}
    for addsMore in [false, true] {
      seen = ""
      try store.write {
        #expect(throws: Refused.self) {
          try store.savepoint {
            dog.age = 2
            throw Refused()
          }
        }
        #expect(seen == " 1>2 2>1" && dog.age == 1)
        if addsMore { try store.add(Dog(name: "more")) }
      }
      #expect(seen == " 1>2 2>1")
    }
    for token in tokens + [token] { token.stop() }
  }

  @Test func listsTellPositions() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write { try store.add(person) }
    var seen: [String] = []
    let token = person.observe(\.scores) { _, change in seen.append("\(change.kind) \(change.indexes)") }
    try store.write {
      person.scores.append(contentsOf: [1, 2, 3])
      person.scores.swapAt(0, 1)
      person.scores.remove(at: 1)
      person.scores.removeAll()
    }
    #expect(seen == ["insertion [0, 1, 2]", "replacement [0, 1]", "removal [1]", "removal [0, 1]"])
    token.stop()
  }

  /// To compare the lists takes one pass, however much was appended.
  @Test func aLargeAppendTellsAllItsPositions() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.scores.append(contentsOf: [1, 2, 3])
    }
    var kinds: [String] = []
    var indexes: [Int] = []
    let token = person.observe(\.scores) { _, change in
      kinds.append("\(change.kind)")
      indexes += change.indexes
    }
    try store.write { person.scores.append(contentsOf: (0..<50_000).map { Double($0) }) }
    #expect(kinds == ["insertion"] && indexes == Array(3..<50_003))
    token.stop()
  }

  @Test func aValueThatIsSetByNameIsToldInsideTheCall() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write { try store.add(person) }
    let heard = HeardProperties()
    heard.follow(person, \.age) { "\($0.oldValue ?? -1)>\($0.newValue ?? -1)" }
    heard.follow(person, \.scores) { "\($0.kind) \($0.indexes)" }
    heard.follow(person, \.best) { $0.newValue.flatMap { $0 }?.name ?? "nobody" }
    try store.write {
      try person.setValue(3, forKey: "age")
      #expect(heard.take() == ["0>3"])
      try person.setValue(3, forKey: "age")
      #expect(throws: StoreError.self) { try person.setValue("x", forKey: "age") }
      #expect(heard.take() == [])
      try person.setValue([1, 2.5], forKey: "scores")
      #expect(heard.take() == ["insertion [0, 1]"])
      try person.setValue(["name": "Rex"], forKey: "best")
      #expect(heard.take() == ["Rex"])
      try store.objects(Person.self).setValue(4, forKey: "age")
      #expect(heard.take() == ["3>4"])
    }
    store.refresh()
    #expect(heard.take() == [])
    heard.stop()
  }

  @Test func invalidationAndLinksFollowADelete() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    let person = Person(name: "Ann", best: dog)
    try store.write { try store.add(person) }
    var seen: [String] = []
    let tokens = [
      dog.observe(\.isInvalidated) { _, change in seen.append("gone \(change.newValue ?? false)") },
      person.observe(\.best) { _, change in seen.append("best \(change.newValue.map { $0 != nil } ?? false)") },
      dog.observe(\.age) { _, _ in seen.append("age") },
    ]
    try store.beginWrite()
    try store.delete(dog)
    #expect(Set(seen) == ["gone true", "best false"])
    seen = []
    store.cancelWrite()
    #expect(Set(seen) == ["gone false", "best true"])
    for token in tokens { token.stop() }
  }

  @Test func aStoreThatIsInvalidatedInvalidatesItsObjects() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    let heard = HeardProperties()
    heard.follow(dog, \.isInvalidated) { "gone \($0.newValue ?? false)" }
    heard.follow(dog, \.age) { "age \($0.newValue ?? -1)" }
    try store.beginWrite()
    dog.age = 2
    store.invalidate()
    // The write is cancelled first.
    #expect(heard.take() == ["age 2", "age 1", "gone true"])
    store.refresh()
    #expect(heard.take() == ["gone false"])
    heard.stop()
  }

  /// What is read again is what the delete touched: the object, and those that pointed to it.
  @Test func aDeleteReadsNoOtherObservedProperty() throws {
    let store = try Store(configuration)
    let dogs = (0..<50).map { Dog(name: "\($0)", age: $0) }
    let people = (0..<50).map { Person(name: "\($0)", best: dogs[$0]) }
    try store.write {
      try store.add(people)
      people[7].dogs.append(contentsOf: [dogs[3], dogs[4]])
    }
    var seen: [String] = []
    var tokens: [NotificationToken] = []
    for (i, dog) in dogs.enumerated() { tokens.append(dog.observe(\.age) { _, _ in seen.append("age \(i)") }) }
    for (i, person) in people.enumerated() {
      tokens.append(person.observe(\.best) { _, _ in seen.append("best \(i)") })
      tokens.append(person.observe(\.dogs) { _, change in seen.append("dogs \(i) \(change.indexes)") })
    }
    try store.write {
      let before = store.propertyCheckCount
      try store.delete(dogs[3])
      // The dog, its person, and the one whose list it was in.
      #expect(store.propertyCheckCount - before <= 5)
      #expect(Set(seen) == ["best 3", "dogs 7 [0]"])
    }
    for token in tokens { token.stop() }
  }

  /// Whoever takes a feed in, object by object, does not pay for all that is shown each time.
  @Test func anUpdateByAddReadsNoOtherObservedProperty() throws {
    let store = try Store(configuration)
    let people = (0..<50).map { Person(name: "\($0)", age: $0) }
    try store.write { try store.add(people) }
    var seen: [String] = []
    let tokens = people.map { person in
      person.observe(\.age) { person, change in seen.append("\(person.name) \(change.newValue ?? -1)") }
    }
    try store.write {
      let before = store.propertyCheckCount
      try store.add(Person(id: people[7].id, name: "7", age: 70), update: .modified)
      #expect(seen == ["7 70"] && store.propertyCheckCount - before == 1)
    }
    #expect(seen == ["7 70"])
    for token in tokens { token.stop() }
  }

  @Test func createThatUpdatesAndSettingByNameTellInsideTheCall() throws {
    let store = try Store(configuration)
    let (ann, rex) = (Person(name: "Ann", age: 30), Dog(name: "Rex"))
    try store.write { try store.add([ann]) }
    try store.write { try store.add(rex) }
    let heard = HeardProperties()
    heard.follow(ann, \.name) { "name \($0.oldValue ?? "-") > \($0.newValue ?? "-")" }
    heard.follow(ann, \.age) { "age \($0.oldValue ?? 0) > \($0.newValue ?? 0)" }
    heard.follow(ann, \.scores) { "scores \($0.kind) \($0.indexes)" }
    heard.follow(ann, \.best?.name) { "best \(($0.newValue ?? nil) ?? "-")" }
    heard.follow(rex, \.owners) { _ in "owners" }
    try store.write {
      let values: [String: Any?] = ["id": ann.id, "name": "Eve", "scores": [1.0, 2.0]]
      try store.create(Person.self, value: values, update: .modified)
      #expect(heard.take() == ["name Ann > Eve", "scores insertion [0, 1]"])
      try store.create(Person.self, value: values, update: .modified)
      #expect(heard.take() == [])
      let json = Data(#"[{"id": "\#(ann.id.uuidString)", "age": 31}, {"name": "Bob"}]"#.utf8)
      try store.create(Person.self, json: json, update: .modified)
      #expect(heard.take() == ["age 30 > 31"])
      // What is undone was never told.
      let wrong: [String: Any?] = ["id": ann.id, "name": "Bob", "age": "many"]
      #expect(throws: StoreError.self) { try store.create(Person.self, value: wrong, update: .modified) }
      #expect(heard.take() == [] && ann.name == "Eve")
      // A new object points here.
      try store.create(Person.self, value: ["name": "Carl", "dogs": [rex]])
      #expect(heard.take() == ["owners"])
      try ann.setValue(40, forKey: "age")
      try ann.setValue(rex, forKey: "best")
      try ann.setValue([rex], forKey: "dogs")
      #expect(heard.take() == ["age 31 > 40", "best Rex", "owners"])
    }
    store.refresh()
    #expect(heard.take() == [])
    heard.stop()
  }

  @Test func createThatUpdatesIsToldBeforeItTooWhereThatIsWanted() throws {
    let store = try Store(configuration)
    let ann = Person(name: "Ann")
    try store.write { try store.add(ann) }
    var seen: [String] = []
    let token = ann.observe(\.name, options: [.prior, .old, .new]) { person, change in
      seen.append("\(person.name) \(change.isPrior)")
    }
    try store.write { try store.create(Person.self, value: ["id": ann.id, "name": "Eve"], update: .all) }
    #expect(seen == ["Ann true", "Eve false"])
    token.stop()
  }

  @Test func aHandlerMustNotWrite() throws {
    let store = try makeStore(misuse: .ignore)
    let dog = try makeDog(store)
    var codes: [StoreError.Code] = []
    var writes = false
    let token = dog.observe(\.age) { dog, _ in
      if writes { dog.name = "written" }
      do throws(StoreError) { try store.add(Dog()) } catch { codes.append(error.code) }
    }
    try store.write { dog.age = 2 }
    #expect(codes == [.writeInObserver] && dog.age == 2 && store.objects(Dog.self).count == 1)
    // A setter cannot throw: the write does.
    writes = true
    do {
      try store.write { dog.age = 3 }
      Issue.record("committed")
    } catch {
      #expect((error as? StoreError)?.code == .writeInObserver)
    }
    #expect(dog.name == "Rex" && dog.age == 2)
    token.stop()
  }

  // MARK: Observation

  @Test func numbersAndMembershipAreTrackedLikeTheObjectsOfResults() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    store.tracksReads = true
    let adults = store.objects(Dog.self).where { $0.age > 5 }
    let (members, sums) = (Counter(), Counter())
    withObservationTracking { _ = adults.contains(dog) } onChange: { members.count.withLock { $0 += 1 } }
    withObservationTracking { _ = try? adults.sum(of: \.age) } onChange: { sums.count.withLock { $0 += 1 } }
    try store.write { dog.age = 9 }
    #expect(members.count.withLock { $0 } == 1 && sums.count.withLock { $0 } == 1)
    #expect(try adults.contains(dog) && adults.sum(of: \.age) == 9)
  }

  @Test func trackedReadsAreSeen() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dog = try makeDog(store)
    store.tracksReads = true
    func track(_ read: () -> Void) -> Counter {
      let changes = Counter()
      withObservationTracking(read, onChange: { changes.count.withLock { $0 += 1 } })
      return changes
    }
    let kept = [track { _ = dog.age }, track { _ = dog.name }, track { _ = store.objects(Dog.self).count }]
    func counts() -> [Int] { kept.map { $0.count.withLock { $0 } } }
    try store.write { dog.age = 2 }
    #expect(counts() == [1, 0, 1])
    other.refresh()
    try other.write { other.resolve(dog.reference)?.name = "Max" }
    #expect(counts() == [1, 0, 1])
    store.refresh()
    #expect(counts() == [1, 1, 1])
  }
}

private final class Counter: Sendable {
  let count = Mutex(0)
}
