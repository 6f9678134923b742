import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct ObjectNotificationTests {
  let configuration = makeConfiguration()

  private func makeDog(_ store: Store) throws -> Dog {
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    return dog
  }

  @Test func changesOfOneCallAreThoseSinceTheLast() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dog = try makeDog(store)
    let heard = HeardObject()
    let token = dog.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [])
    other.refresh()
    let same = try #require(other.resolve(dog.reference))
    try other.write { same.age = 2 }
    try other.write {
      same.age = 3
      same.name = "Max"
    }
    #expect(heard.take() == [])
    store.refresh()
    #expect(heard.take() == ["name Rex -> Max, age 1 -> 3"])
    // The store's own writes have old values too, and equal ends are no change.
    try store.write { dog.age = 4 }
    store.refresh()
    #expect(heard.take() == ["age 3 -> 4"])
    try other.write { same.age = 9 }
    try other.write { same.age = 4 }
    try other.write { try other.add(Dog(name: "another")) }
    store.refresh()
    #expect(heard.take() == [])
    token.stop()
  }

  /// An equal value is no change, for nobody; who wants it told says so.
  @Test func anEqualValueIsNoChangeUnlessTheObjectIsTouched() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann", age: 1)
    person.dogs = [Dog(name: "Rex")]
    try store.write { try store.add(person) }
    let (results, filtered, object) = (Heard(), Heard(), HeardObject())
    let tokens = [
      store.objects(Person.self).observe { results.hear($0) },
      store.objects(Person.self).observe(keyPaths: [\.nick]) { filtered.hear($0) },
      person.observe { object.hear($0) },
    ]
    store.refresh()
    for heard in [results, filtered] { #expect(heard.take() == [.initial(1)]) }
    let version = store.version
    try store.write {
      person.age = 1
      person.name = "Ann"
      person.best = nil
    }
    store.refresh()
    #expect(results.take() == [] && filtered.take() == [] && store.version == version)
    try store.write { try store.touch(person) }
    store.refresh()
    #expect(results.take() == [Heard.update([], [], [0])] && filtered.take() == [Heard.update([], [], [0])])
    #expect(object.take() == [])
    #expect { try store.touch(person) } throws: { StoreError.Code.notInWrite ~= $0 }
    try store.write {
      #expect { try store.touch(Person()) } throws: { StoreError.Code.wrongStore ~= $0 }
      try store.delete(person)
      #expect { try store.touch(person) } throws: { StoreError.Code.objectDeleted ~= $0 }
    }
    for token in tokens { token.stop() }
  }

  /// The filters of several tokens on one object.
  @Test func filtersAreEachTokensOwn() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    let (one, two, three) = (HeardObject(), HeardObject(), HeardObject())
    let tokens = [
      try dog.observe(observingProperties: ["age"]) { one.hear($0) },
      try dog.observe(ignoringProperties: ["age"]) { two.hear($0) },
      dog.observe(keyPaths: []) { three.hear($0) },
    ]
    try store.write { dog.age = 7 }
    store.refresh()
    #expect(one.take() == ["age 1 -> 7"] && two.take() == [] && three.take() == [])
    try store.write {
      dog.name = "Max"
      dog.age = 8
    }
    store.refresh()
    #expect(one.take() == ["age 7 -> 8"] && two.take() == ["name Rex -> Max"] && three.take() == [])
    #expect(throws: StoreError.self) { _ = try dog.observe(observingProperties: ["nmae"]) { _ in } }
    try store.write { try store.delete(dog) }
    store.refresh()
    #expect(one.take() == ["deleted"] && two.take() == ["deleted"] && three.take() == ["deleted"])
    for token in tokens { token.stop() }
  }

  @Test func deletionIsToldOnceAndLast() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    let heard = HeardObject()
    let token = dog.observe { heard.hear($0) }
    try store.write {
      dog.age = 2
      try store.delete(dog)
    }
    store.refresh()
    store.refresh()
    #expect(heard.take() == ["deleted"])
    token.stop()
  }

  @Test func aDeletedObjectCannotBeObserved() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    try store.write { try store.delete(dog) }
    let heard = HeardObject()
    let token = dog.observe { heard.hear($0) }
    #expect(heard.take() == [])
    store.refresh()
    store.refresh()
    #expect(heard.take() == ["error objectDeleted"])
    token.stop()
  }

  @Test func linksAndListsAreProperties() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    let dog = try makeDog(store)
    try store.write { try store.add(person) }
    let (own, deep) = (HeardObject(), HeardObject())
    let tokens = [
      person.observe { own.hear($0) },
      try person.observe(observingProperties: ["dogs.name"]) { deep.hear($0) },
    ]
    try store.write {
      person.best = dog
      person.dogs.append(dog)
      person.scores.append(contentsOf: [1, 2])
    }
    store.refresh()
    #expect(own.take() == ["best nil -> \(Value.link(dog.id.key)), dogs -[] +[0] ~[], scores -[] +[0, 1] ~[]"])
    #expect(deep.take() == ["dogs -[] +[0] ~[]"])
    try store.write { dog.name = "Max" }
    store.refresh()
    #expect(own.take() == [] && deep.take() == ["dogs -[] +[] ~[]"])
    try store.write { dog.age = 5 }
    try store.write { person.scores.remove(at: 0) }
    store.refresh()
    #expect(own.take() == ["scores -[0] +[] ~[]"] && deep.take() == [])
    for token in tokens { token.stop() }
  }

  @Test func aSkippedTokenKnowsTheNewValues() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    let heard = HeardObject()
    let token = dog.observe { heard.hear($0) }
    store.refresh()
    try store.write(withoutNotifying: [token]) { dog.age = 5 }
    store.refresh()
    #expect(heard.take() == [])
    try store.write { dog.age = 6 }
    store.refresh()
    #expect(heard.take() == ["age 5 -> 6"])
    token.stop()
  }

  @Test func aTokenSkippedByAnotherStoreKnowsTheNewValuesAndLosesNoOthers() throws {
    let (store, writer, other) = (try Store(configuration), try Store(configuration), try Store(configuration))
    let dog = try makeDog(store)
    let heard = HeardObject()
    let token = dog.observe { heard.hear($0) }
    store.refresh()
    for context in [writer, other] { context.refresh() }
    let (theirs, others) = (try #require(writer.resolve(dog.reference)), try #require(other.resolve(dog.reference)))
    try writer.write(withoutNotifying: [token]) { theirs.age = 2 }
    try other.write { others.age = 1 }
    store.refresh()
    #expect(heard.take() == ["age 2 -> 1"])
    try other.write { others.name = "Max" }
    try writer.write(withoutNotifying: [token]) { theirs.age = 2 }
    store.refresh()
    #expect(heard.take() == ["name Rex -> Max"])
    try writer.write(withoutNotifying: [token]) { theirs.age = 3 }
    store.refresh()
    #expect(heard.take() == [])
    token.ignore(author: "import")
    try writer.write(author: "import") { theirs.age = 4 }
    try other.write { others.age = 3 }
    store.refresh()
    #expect(heard.take().count <= 1)
    try other.write { others.age = 5 }
    store.refresh()
    #expect(heard.take() == ["age 3 -> 5"])
    token.stop()
  }

  @Test func aStoppedObserverHearsNothing() throws {
    let store = try Store(configuration)
    let dog = try makeDog(store)
    let heard = HeardObject()
    let token = dog.observe { heard.hear($0) }
    try store.write { dog.age = 5 }
    token.stop()
    store.refresh()
    #expect(heard.take() == [])
  }

  // MARK: Lists

  @Test func aListIsToldByItsEdits() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      for name in ["a", "b", "a"] { person.dogs.append(Dog(name: name)) }
      person.dogs.append(person.dogs[0])
    }
    let (heard, shallow) = (Heard(), Heard())
    let tokens = [
      person.dogs.observe { heard.hear($0) },
      try person.dogs.observe(observingProperties: []) { shallow.hear($0) },
    ]
    #expect(heard.take() == [])
    store.refresh()
    #expect(heard.take() == [.initial(4)] && shallow.take() == [.initial(4)])
    try store.write { person.dogs.remove(at: 1) }
    store.refresh()
    #expect(heard.take() == [Heard.update([1])] && shallow.take() == [Heard.update([1])])
    // One dog twice: both places are modified.
    try store.write { person.dogs[0].name = "x" }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [0, 2])] && shallow.take() == [])
    try store.write { person.dogs.move(from: 0, to: 2) }
    store.refresh()
    #expect(heard.take() == [Heard.update([0], [2])])
    _ = shallow.take()
    try store.write { try store.delete(person.dogs[0]) }
    store.refresh()
    #expect(heard.take() == [Heard.update([0])])
    try store.write { try store.delete(person) }
    store.refresh()
    #expect(heard.take() == [Heard.update([0, 1])])
    for token in tokens { token.stop() }
  }

  @Test func aListOfScalarsKeepsEqualElementsApart() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.scores.append(contentsOf: [1, 1, 1])
    }
    let heard = Heard()
    let token = person.scores.observe { heard.hear($0) }
    store.refresh()
    try store.write { person.scores.remove(at: 1) }
    try store.write { person.scores[1] = 5 }
    store.refresh()
    #expect(heard.take() == [.initial(3), Heard.update([1]), Heard.update([], [], [1])])
    try store.write(withoutNotifying: [token]) { person.scores.append(8) }
    try store.write { person.scores.append(9) }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [3])])
    token.stop()
  }
}
