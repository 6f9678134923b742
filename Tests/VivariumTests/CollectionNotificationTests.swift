import Foundation
import Testing
import Vivarium
import VivariumTestSupport

/// What one observer heard, as values.
final class Heard {
  enum Call: Equatable {
    case initial(Int)
    case update(deletions: [Int], insertions: [Int], modifications: [Int], new: [Int])
    case error(StoreError.Code)
  }

  private(set) var calls: [Call] = []

  func hear<C: Collection>(_ change: CollectionChange<C>) {
    switch change {
    case .initial(let collection): calls.append(.initial(collection.count))
    case .update(_, let deletions, let insertions, let modifications):
      calls.append(
        .update(
          deletions: deletions, insertions: insertions, modifications: Array(modifications), new: modifications.new))
    case .error(let error): calls.append(.error(error.code))
    }
  }

  /// What was heard since the last time this was asked.
  func take() -> [Call] {
    defer { calls = [] }
    return calls
  }

  static func update(_ deletions: [Int] = [], _ insertions: [Int] = [], _ modifications: [Int] = [], new: [Int]? = nil)
    -> Call
  {
    .update(deletions: deletions, insertions: insertions, modifications: modifications, new: new ?? modifications)
  }
}

@Suite struct CollectionNotificationTests {
  let configuration = makeConfiguration()

  private func fill(_ store: Store, _ ages: [Int]) throws {
    try store.write { for age in ages { try store.add(Dog(name: "\(age)", age: age)) } }
  }

  @Test func theFirstCallComesOnceAndNeverInside() throws {
    let store = try Store(configuration)
    try fill(store, [1, 2, 3])
    let heard = Heard()
    let token = store.objects(Dog.self).observe { heard.hear($0) }
    #expect(heard.take() == [])
    store.refresh()
    #expect(heard.take() == [.initial(3)])
    store.refresh()
    #expect(heard.take() == [])
    token.stop()
  }

  @Test func changesOfAnybodyComeAsOneNetChangeSet() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try fill(store, [1, 2, 3, 4])
    let heard = Heard()
    let sorted = store.objects(Dog.self).where { $0.age < 10 }.sorted(by: \.age)
    let token = sorted.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.initial(4)])
    try other.write { try other.add(Dog(name: "0", age: 0)) }
    try other.write { other.objects(Dog.self).where { $0.age == 3 }.first?.name = "three" }
    try other.write { other.objects(Dog.self).where { $0.age == 1 }.first?.age = 20 }
    try other.write { try other.add(Dog(name: "11", age: 11)) }
    #expect(heard.take() == [])
    store.refresh()
    #expect(heard.take() == [Heard.update([0], [0], [2])])
    #expect(sorted.map(\.age) == [0, 2, 3, 4])
    token.stop()
  }

  /// It leaves, is changed while it is no row, and comes back: three commits, and no turn in between.
  @Test(arguments: [false, true]) func whatChangedWhileItWasNoRowIsModifiedWhenItIsBack(isWindow: Bool) throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try fill(store, [1, 2, 3, 4])
    let heard = Heard()
    var dogs = store.objects(Dog.self).where { $0.age < 10 }.sorted(by: \.age)
    if isWindow { dogs = dogs.limited(to: 3) }
    let token = try dogs.observe(observingProperties: ["name"]) { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    other.refresh()
    let dog = other.objects(Dog.self).where { $0.age == 2 }[0]
    for change in [{ dog.age = 20 }, { dog.name = "new" }, { dog.age = 2 }] {
      try other.write(change)
      // The result follows each commit by itself.
      _ = store.notifierWork
    }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [1])])
    token.stop()
  }

  @Test func aMoveIsADeletionAndAnInsertionAndIsListed() throws {
    let store = try Store(configuration)
    try fill(store, [1, 2, 3, 4])
    var moves: [[Int]] = []
    let heard = Heard()
    let token = store.objects(Dog.self).sorted(by: \.age).observe { change in
      heard.hear(change)
      if let details = change.details { moves += details.moves.map { [$0.from, $0.to] } }
    }
    store.refresh()
    try store.write(author: "me") { store.objects(Dog.self).sorted(by: \.age)[0].age = 9 }
    store.refresh()
    #expect(heard.take() == [.initial(4), Heard.update([0], [3])])
    #expect(moves == [[0, 3]])
    token.stop()
  }

  @Test func detailsNameObjectsVersionsAndAuthors() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try fill(store, [1, 2, 3])
    other.refresh()
    let dogs = other.objects(Dog.self).toArray()
    var details: ChangeDetails?
    let token = store.objects(Dog.self).observe { if let found = $0.details { details = found } }
    store.refresh()
    let before = store.version
    let first = dogs[0].id
    try other.write(author: "ann") { try other.delete(dogs[0]) }
    try other.write(author: "bob") { dogs[2].name = "x" }
    let new = Dog(name: "new", age: 7)
    try other.write(author: "ann") { try other.add(new) }
    store.refresh()
    let found = try #require(details)
    #expect(found.deletedIDs == [first] && found.insertedIDs == [new.id] && found.modifiedIDs == [dogs[2].id])
    #expect(found.fromVersion == before && found.toVersion == store.version && found.commits == 3)
    #expect(found.authors == ["ann", "bob"])
    token.stop()
  }

  @Test func aStoppedObserverHearsNothingThoughItWasDue() throws {
    let store = try Store(configuration)
    let heard = Heard()
    let first = store.objects(Dog.self).observe { heard.hear($0) }
    first.stop()
    store.refresh()
    #expect(heard.take() == [])
    let second = store.objects(Dog.self).observe { heard.hear($0) }
    store.refresh()
    try fill(store, [1])
    second.stop()
    store.refresh()
    #expect(heard.take() == [.initial(0)])
  }

  @Test func nothingIsToldThatCameToNothing() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try fill(store, [1])
    let heard = Heard()
    let token = store.objects(Dog.self).where { $0.age < 5 }.observe { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    let dog = Dog(name: "gone", age: 2)
    try other.write { try other.add(dog) }
    try other.write { try other.delete(dog) }
    try fill(other, [30])
    store.refresh()
    #expect(heard.take() == [])
    token.stop()
  }

  @Test func aSkippedWriteIsNotToldAndTheNextIsExact() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try fill(store, [1, 2, 3, 4])
    let (heard, all) = (Heard(), Heard())
    let dogs = store.objects(Dog.self).sorted(by: \.age)
    let token = dogs.observe { heard.hear($0) }
    let plain = dogs.observe { all.hear($0) }
    store.refresh()
    _ = (heard.take(), all.take())
    try other.write { try other.add(Dog(name: "0", age: 0)) }
    try store.beginWrite()
    #expect(heard.take() == [Heard.update([], [0])])
    try store.delete(dogs[1])
    try store.commitWrite(withoutNotifying: [token])
    #expect(dogs.map(\.age) == [0, 2, 3, 4])
    store.refresh()
    #expect(heard.take() == [])
    #expect(all.take() == [Heard.update([], [0]), Heard.update([1])])
    try store.write(withoutNotifying: [token]) {}
    try other.write { other.objects(Dog.self).where { $0.age == 2 }.first?.name = "two" }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [1])])
    token.stop()
    plain.stop()
  }

  @Test func skippedAndToldCommitsMixWithoutLosingTheBase() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try fill(store, [10, 20, 30])
    let heard = Heard()
    let token = store.objects(Dog.self).sorted(by: \.age).observe { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    // From another context of the same store, while a change waits.
    try other.write { try other.add(Dog(name: "15", age: 15)) }
    try other.write(withoutNotifying: [token]) { try other.add(Dog(name: "5", age: 5)) }
    try other.write { try other.delete(other.objects(Dog.self).where { $0.age == 20 }) }
    store.refresh()
    // It knows [5, 10, 20, 30].
    #expect(heard.take() == [Heard.update([2], [2])])
    token.stop()
  }

  @Test func filtersAreEachTokensOwn() throws {
    let store = try Store(configuration)
    try fill(store, [1, 2])
    let (names, ages, none, all) = (Heard(), Heard(), Heard(), Heard())
    let dogs = store.objects(Dog.self)
    let tokens = [
      dogs.observe(keyPaths: [\.name]) { names.hear($0) },
      try dogs.observe(observingProperties: ["age"]) { ages.hear($0) },
      dogs.observe(keyPaths: []) { none.hear($0) },
      try dogs.observe(ignoringProperties: ["name"]) { all.hear($0) },
    ]
    store.refresh()
    for heard in [names, ages, none, all] { #expect(heard.take() == [.initial(2)]) }
    try store.write { dogs[0].name = "x" }
    store.refresh()
    #expect(names.take() == [Heard.update([], [], [0])])
    #expect(ages.take() == [] && none.take() == [] && all.take() == [])
    try store.write { dogs[1].age = 9 }
    store.refresh()
    #expect(ages.take() == [Heard.update([], [], [1])] && all.take() == [Heard.update([], [], [1])])
    #expect(names.take() == [] && none.take() == [])
    try fill(store, [3])
    store.refresh()
    for heard in [names, ages, none, all] { #expect(heard.take() == [Heard.update([], [2])]) }
    #expect(throws: StoreError.self) { _ = try dogs.observe(observingProperties: ["nmae"]) { _ in } }
    for token in tokens { token.stop() }
  }

  @Test func whatRowsLeadToCounts() throws {
    let store = try Store(configuration)
    let (person, dog, cat) = (Person(name: "A"), Dog(name: "Rex", age: 1), Dog(name: "Tom", age: 1))
    try store.write {
      try store.add(person)
      person.dogs.append(dog)
      try store.add(cat)
    }
    let (deep, byName, stars) = (Heard(), Heard(), Heard())
    let people = store.objects(Person.self)
    let tokens = [
      people.observe { deep.hear($0) },
      try people.observe(observingProperties: ["dogs.name"]) { byName.hear($0) },
      try people.observe(observingProperties: ["*.age"]) { stars.hear($0) },
    ]
    store.refresh()
    for heard in [deep, byName, stars] { _ = heard.take() }
    try store.write { dog.age = 2 }
    store.refresh()
    let modified = [Heard.update([], [], [0])]
    #expect(deep.take() == modified && byName.take() == [] && stars.take() == modified)
    try store.write { cat.age = 2 }
    store.refresh()
    #expect(deep.take() == [] && byName.take() == [] && stars.take() == [])
    try store.write { person.dogs.append(cat) }
    store.refresh()
    #expect(deep.take() == modified && byName.take() == modified && stars.take() == modified)
    for token in tokens { token.stop() }
  }

  /// Five relationships of each object are 155 ways over up to three of them.
  @Test func whatLiesThreeLinksAwayCountsHoweverManyWaysThereAre() throws {
    let store = try Store(StoreConfiguration.reference(nil, models: [Knot.self]).byHand)
    let knots = (0..<5).map { Knot(value: $0) }
    for (knot, next) in zip(knots, knots.dropFirst()) { knot.d = next }
    let holder = Knot(value: 100)
    try store.write {
      try store.add(knots)
      try store.add(holder)
      holder.many.append(knots[0])
    }
    let first = store.objects(Knot.self).where { $0.value < 1 }
    let (rows, window, whole, list, named) = (Heard(), Heard(), Heard(), Heard(), Heard())
    let tokens = [
      first.observe { rows.hear($0) }, first.limited(to: 3).observe { window.hear($0) },
      first.distinct(by: \.value).observe { whole.hear($0) }, holder.many.observe { list.hear($0) },
      try first.observe(observingProperties: ["a.value", "d.value"]) { named.hear($0) },
    ]
    store.refresh()
    for heard in [rows, window, whole, list, named] { #expect(heard.take() == [.initial(1)]) }
    let modified = [Heard.update([], [], [0])]
    for (i, knot) in knots.enumerated().dropFirst() {
      try store.write { knot.value += 10 }
      store.refresh()
      let told = i < 4 ? modified : []
      #expect(rows.take() == told && window.take() == told && whole.take() == told && list.take() == told, "\(i) links")
      #expect(named.take() == (i == 1 ? modified : []), "\(i) links")
    }
    for token in tokens { token.stop() }
  }

  @Test func limitedResultsMoveTheirWindow() throws {
    let store = try Store(configuration)
    try fill(store, [1, 2, 3, 4])
    let heard = Heard()
    let top = store.objects(Dog.self).sorted(by: \.age).limited(to: 3)
    let token = top.observe { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    try fill(store, [0])
    store.refresh()
    #expect(heard.take() == [Heard.update([2], [0])])
    #expect(top.map(\.age) == [0, 1, 2])
    token.stop()
  }

  @Test func resultsOfAListFollowIt() throws {
    let store = try Store(configuration)
    let person = Person(name: "A")
    try store.write {
      try store.add(person)
      for age in [3, 1, 2, 1] { person.dogs.append(Dog(name: "d", age: age)) }
    }
    let heard = Heard()
    let young = person.dogs.results(in: store).where { $0.age < 3 }
    let token = young.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.initial(3)])
    try store.write { person.dogs.remove(at: 1) }
    store.refresh()
    #expect(heard.take() == [Heard.update([0])])
    let rex = person.dogs[1]
    try store.write { person.dogs.append(rex) }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [2])])
    try store.write { rex.name = "both" }
    store.refresh()
    #expect(heard.take().count == 1)
    try store.write { try store.delete(person) }
    store.refresh()
    #expect(heard.take().last == Heard.update([0, 1, 2]))
    token.stop()
  }

  /// A list may have an object twice, and so have results of it, sorted or not.
  @Test func rowsOfOneObjectInResultsOfAListKeepTheirPlacesApart() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    let (a, b) = (Dog(name: "a", age: 1), Dog(name: "b", age: 2))
    try store.write {
      try store.add(person)
      person.dogs.append(contentsOf: [a, b, a])
    }
    let (listed, sorted) = (Heard(), Heard())
    let dogs = person.dogs.results(in: store)
    let (inOrder, byAge) = (dogs.where { $0.age > 0 }, dogs.sorted(by: \.age))
    let tokens = [inOrder.observe { listed.hear($0) }, byAge.observe { sorted.hear($0) }]
    store.refresh()
    #expect(listed.take() == [.initial(3)] && sorted.take() == [.initial(3)])
    #expect(inOrder.map(\.name) == ["a", "b", "a"] && byAge.map(\.name) == ["a", "a", "b"])
    try store.write { a.name = "A" }
    store.refresh()
    #expect(listed.take() == [Heard.update([], [], [0, 2])] && sorted.take() == [Heard.update([], [], [0, 1])])
    try store.write { person.dogs.remove(at: 0) }
    store.refresh()
    #expect(listed.take() == [Heard.update([0])] && sorted.take() == [Heard.update([1])])
    try store.write { person.dogs.append(contentsOf: [b, a]) }
    store.refresh()
    #expect(listed.take() == [Heard.update([], [2, 3])] && sorted.take() == [Heard.update([], [1, 3])])
    #expect(inOrder.map(\.name) == ["b", "A", "b", "A"] && byAge.map(\.name) == ["A", "A", "b", "b"])
    for token in tokens { token.stop() }
  }

  @Test func aWrongQuestionIsToldAsAnError() throws {
    var configuration = configuration
    configuration.misuse = .ignore
    let store = try Store(configuration)
    let heard = Heard()
    let token = store.objects(Dog.self).sorted(byKeyPath: "nmae").observe { heard.hear($0) }
    #expect(heard.take() == [])
    store.refresh()
    store.refresh()
    #expect(heard.take() == [.error(.invalidQuery)])
    token.stop()
  }

  @Test func theTokenKeepsTheStore() throws {
    let heard = Heard()
    weak var weakStore: Store?
    var token: NotificationToken?
    do {
      let store = try Store(configuration)
      weakStore = store
      token = store.objects(Dog.self).observe { heard.hear($0) }
    }
    weakStore?.refresh()
    #expect(heard.take() == [.initial(0)])
    token?.stop()
    token = nil
    #expect(weakStore == nil)
  }
}

/// Leads to its like in many ways.
@Model final class Knot {
  var value = 0
  var a: Knot?
  var b: Knot?
  var c: Knot?
  var d: Knot?
  var many: LiveList<Knot>
}
