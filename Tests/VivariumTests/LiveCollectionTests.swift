import Testing
import Vivarium
import VivariumTestSupport

/// Results of other collections are live as results of all objects are.
@Suite struct LiveCollectionTests {
  let configuration = makeConfiguration()

  @Test func filteredInversesAndResultsOfResultsAreKept() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dog = Dog(name: "Rex")
    let people = (0..<4).map { Person(name: "\($0)", age: 10 * $0) }
    try store.write {
      try store.add(dog)
      for person in people {
        try store.add(person)
        person.dogs.append(dog)
      }
    }
    let (inverse, nested) = (Heard(), Heard())
    let adults = try #require(dog.owners.where { $0.age > 5 }).sorted(by: \.age, ascending: false)
    // The two youngest grown-ups, and of these those with a name that is not "1".
    let few = store.objects(Person.self).where { $0.age > 5 }.sorted(by: \.age).limited(to: 2).where { $0.name != "1" }
    let tokens = [adults.observe { inverse.hear($0) }, few.observe { nested.hear($0) }]
    store.refresh()
    #expect(adults.map(\.name) == ["3", "2", "1"] && inverse.take() == [.initial(3)])
    #expect(few.map(\.name) == ["2"] && nested.take() == [.initial(1)])
    other.refresh()
    let theirs = other.objects(Person.self).sorted(by: \.name).toArray()
    // One goes out by the condition, one by the link.
    try other.write {
      theirs[1].age = 0
      theirs[2].dogs.removeAll()
    }
    store.refresh()
    #expect(adults.map(\.name) == ["3"] && inverse.take() == [Heard.update([1, 2])])
    #expect(few.map(\.name) == ["2", "3"] && nested.take() == [Heard.update([], [1], [0])])
    // Its object is deleted: one last call, and then nothing.
    try other.write { try other.delete(other.objects(Dog.self)) }
    store.refresh()
    #expect(inverse.take() == [Heard.update([0])])
    // Whoever had it has one dog less.
    #expect(nested.take() == [Heard.update([], [], [1])])
    try other.write { theirs[3].age = 31 }
    store.refresh()
    #expect(inverse.take() == [] && nested.take() == [Heard.update([], [], [1])])
    for token in tokens { token.stop() }
  }

  @Test func anyCollectionIsReadAndObservedAsOneType() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      for age in 1...2 { person.dogs.append(Dog(name: "\(age)", age: age)) }
    }
    let collections: [AnyStoreCollection<Dog>] = [
      AnyStoreCollection(store.objects(Dog.self).sorted(by: \.age, ascending: false)), AnyStoreCollection(person.dogs),
      AnyStoreCollection(AnyStoreCollection(store.objects(Dog.self).where { $0.age > 1 })),
    ]
    let inverse = AnyStoreCollection(person.dogs[0].owners)
    #expect(collections.map { $0.map(\.age) } == [[2, 1], [1, 2], [2]] && inverse.toArray() == [person])
    let heard = collections.map { _ in Heard() }
    let owners = Heard()
    var tokens = zip(collections, heard).map { collection, heard in collection.observe { heard.hear($0) } }
    tokens.append(inverse.observe { owners.hear($0) })
    store.refresh()
    #expect(heard.map { $0.take() } == [[.initial(2)], [.initial(2)], [.initial(1)]] && owners.take() == [.initial(1)])
    try store.write { person.dogs.insert(Dog(name: "3", age: 3), at: 0) }
    store.refresh()
    let inserted = heard.map { $0.take() }
    #expect(inserted == [[Heard.update([], [0])], [Heard.update([], [0])], [Heard.update([], [1])]])
    #expect(owners.take() == [Heard.update([], [], [0])])
    #expect(collections.map { $0.map(\.age) } == [[3, 2, 1], [3, 1, 2], [2, 3]] && collections[1][0].name == "3")
    for token in tokens { token.stop() }
  }

  /// Rows are removed by what they are, not by where they stood when they were shown.
  @Test func whatIsRemovedFromACopyIsWhatWasShown() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write { for age in 0..<4 { try store.add(Dog(name: "\(age)", age: age)) } }
    let shown = store.objects(Dog.self).sorted(by: \.age).toArray()
    other.refresh()
    try other.write { try other.delete(other.objects(Dog.self).where { $0.age == 0 }) }
    store.refresh()
    try store.write { try store.delete(shown[2]) }
    #expect(store.objects(Dog.self).sorted(by: \.age).map(\.name) == ["1", "3"])
    #expect(shown.map(\.isInvalidated) == [true, false, true, false])
  }
}
