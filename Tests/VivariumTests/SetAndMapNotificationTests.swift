import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Shelf {
  @PrimaryKey var number = 0
  var label = ""
  var tags: LiveSet<Int>
  var dogs: LiveSet<Dog>
  var prices: LiveMap<Int>
  var places: LiveMap<Dog>
}

/// What the observers of sets and maps hear.
@Suite struct SetAndMapNotificationTests {
  let configuration = StoreConfiguration.reference(nil, models: [Shelf.self, Dog.self, Person.self]).byHand

  private func makeShelf(_ store: Store) throws -> Shelf {
    let shelf = Shelf()
    try store.write { try store.add(shelf) }
    return shelf
  }

  private final class HeardMap {
    private var calls: [[[String]]] = []

    func hear<V>(_ change: MapChange<V>) {
      switch change {
      case .initial: calls.append([["initial"]])
      case .update(_, let deletions, let insertions, let modifications): calls.append([deletions, insertions, Array(modifications)])
      case .error(let error): calls.append([[error.code.rawValue]])
      }
    }

    func take() -> [[[String]]] {
      defer { calls = [] }
      return calls
    }
  }

  @Test func aNameThatLeadsNowhereIsRefusedOfScalarsToo() throws {
    let store = try Store(configuration)
    let (shelf, person) = (try makeShelf(store), Person(name: "Ann"))
    try store.write { try store.add(person) }
    func code(_ observe: () throws(StoreError) -> NotificationToken) -> StoreError.Code? {
      do throws(StoreError) {
        try observe().stop()
        return nil
      } catch {
        return error.code
      }
    }
    let names = ["nmae"]
    #expect(code { () throws(StoreError) in try shelf.tags.observe(observingProperties: names) { _ in } } == .unknownProperty)
    #expect(code { () throws(StoreError) in try shelf.prices.observe(observingProperties: names) { _ in } } == .unknownProperty)
    #expect(code { () throws(StoreError) in try person.scores.observe(observingProperties: names) { _ in } } == .unknownProperty)
    #expect(code { () throws(StoreError) in try shelf.dogs.observe(observingProperties: names) { _ in } } == .unknownProperty)
    #expect(code { () throws(StoreError) in try person.scores.observe(observingProperties: []) { _ in } } == nil)
  }

  @Test func aSetTellsPositionsAndMembers() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let shelf = try makeShelf(store)
    let heard = Heard()
    var details: [[Value]] = []
    let token = shelf.tags.observe { change in
      heard.hear(change)
      if let found = change.details { details.append(found.deletedMembers + found.insertedMembers) }
    }
    #expect(heard.take() == [])
    store.refresh()
    #expect(heard.take() == [.initial(0)])
    other.refresh()
    let same = try #require(other.resolve(shelf.reference))
    // One of them twice.
    try other.write { same.tags.formUnion([5, 3, 3, 9]) }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [0, 1, 2])] && details == [[.int(3), .int(5), .int(9)]])
    // Two commits are one net change; a member that came and went, or went and came back, is none.
    try other.write { same.tags.insert(4) }
    try other.write {
      same.tags.remove(4)
      same.tags.remove(3)
      same.tags.remove(5)
      same.tags.insert(5)
      same.tags.insert(7)
    }
    store.refresh()
    #expect(heard.take() == [Heard.update([0], [1])] && details.last == [.int(3), .int(7)])
    #expect(shelf.tags.toArray() == [5, 7, 9])
    try store.write {
      shelf.tags.removeAll()
      shelf.tags.insert(1)
    }
    store.refresh()
    #expect(heard.take() == [Heard.update([0, 1, 2], [0])])
    token.stop()
  }

  @Test func removalsOneByOneAreOneCall() throws {
    let store = try Store(configuration)
    let shelf = try makeShelf(store)
    try store.write { shelf.tags.formUnion([1, 2, 3]) }
    let heard = Heard()
    let token = shelf.tags.observe { heard.hear($0) }
    store.refresh()
    try store.write { for tag in [2, 1, 3] { shelf.tags.remove(tag) } }
    store.refresh()
    #expect(heard.take() == [.initial(3), Heard.update([0, 1, 2])])
    token.stop()
  }

  @Test func membersThatChangeAreModifiedAsLongAsTheyAreMembers() throws {
    let store = try Store(configuration)
    let shelf = try makeShelf(store)
    let dogs = (0..<3).map { Dog(name: "\($0)") }
    try store.write { for dog in dogs { shelf.dogs.insert(dog) } }
    let (deep, shallow, names) = (Heard(), Heard(), Heard())
    let tokens = [
      shelf.dogs.observe { deep.hear($0) },
      try shelf.dogs.observe(observingProperties: []) { shallow.hear($0) },
      try shelf.dogs.observe(observingProperties: ["name"]) { names.hear($0) },
    ]
    store.refresh()
    _ = (deep.take(), shallow.take(), names.take())
    try store.write { dogs[1].age = 9 }
    store.refresh()
    #expect(deep.take() == [Heard.update([], [], [1])] && shallow.take() == [] && names.take() == [])
    try store.write {
      dogs[2].name = "x"
      shelf.dogs.remove(dogs[0])
    }
    store.refresh()
    #expect(deep.take() == [Heard.update([0], [], [2], new: [1])] && shallow.take() == [Heard.update([0])])
    #expect(names.take() == [Heard.update([0], [], [2], new: [1])])
    // No member any more.
    try store.write { dogs[0].age = 5 }
    store.refresh()
    #expect(deep.take() == [])
    try store.write { try store.delete(dogs[2]) }
    store.refresh()
    #expect(deep.take() == [Heard.update([1])])
    try store.write { try store.delete(shelf) }
    store.refresh()
    #expect(deep.take() == [Heard.update([0])])
    for token in tokens { token.stop() }
  }

  @Test func aMemberThatChangedWentAndCameBackIsModified() throws {
    let store = try Store(configuration)
    let (shelf, dog) = (try makeShelf(store), Dog(name: "Rex"))
    try store.write {
      shelf.dogs.insert(dog)
      shelf.tags.insert(1)
    }
    var (heard, tags): ([[Int]], Int) = ([], 0)
    let token = shelf.dogs.observe { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        heard.append(deletions + [-1] + insertions + [-1] + modifications.new)
      }
    }
    let other = shelf.tags.observe { change in if case .update = change { tags += 1 } }
    store.refresh()
    // By another store, so that all of it waits for one call.
    let writer = try Store(configuration)
    let (theirs, max) = (try #require(writer.objects(Shelf.self).first), try #require(writer.objects(Dog.self).first))
    try writer.write { max.name = "Max" }
    try writer.write {
      theirs.dogs.remove(max)
      theirs.tags.remove(1)
    }
    try writer.write {
      theirs.dogs.insert(max)
      theirs.tags.insert(1)
    }
    store.refresh()
    // A value is the same when it is back.
    #expect(heard == [[-1, -1, 0]] && tags == 0, "\(heard) \(tags)")
    for token in [token, other] { token.stop() }
  }

  @Test func aMapTellsKeys() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let shelf = try makeShelf(store)
    let heard = HeardMap()
    let token = shelf.prices.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [[["initial"]]])
    other.refresh()
    let same = try #require(other.resolve(shelf.reference))
    try other.write {
      same.prices["b"] = 2
      same.prices["a"] = 1
    }
    store.refresh()
    #expect(heard.take() == [[[], ["a", "b"], []]])
    try other.write { same.prices["a"] = nil }
    try other.write {
      same.prices["c"] = 3
      same.prices["b"] = 9
    }
    store.refresh()
    #expect(heard.take() == [[["a"], ["c"], ["b"]]])
    // Equal values are no change; a key that goes and comes back with another value is modified.
    try other.write { same.prices["b"] = 9 }
    try other.write { same.prices["c"] = nil }
    try other.write { same.prices["c"] = 4 }
    store.refresh()
    #expect(heard.take() == [[[], [], ["c"]]])
    try store.write { try store.delete(shelf) }
    store.refresh()
    #expect(heard.take() == [[["b", "c"], [], []]])
    token.stop()
  }

  @Test func valuesThatChangeAreModificationsOfTheirKeys() throws {
    let store = try Store(configuration)
    let shelf = try makeShelf(store)
    let dog = Dog(name: "Rex")
    try store.write {
      shelf.places["bed"] = dog
      shelf.places["door"] = dog
      shelf.places["sofa"] = Dog(name: "Max")
    }
    let (heard, shallow) = (HeardMap(), HeardMap())
    let tokens = [
      shelf.places.observe { heard.hear($0) },
      try shelf.places.observe(observingProperties: []) { shallow.hear($0) },
    ]
    store.refresh()
    _ = (heard.take(), shallow.take())
    try store.write { dog.age = 3 }
    store.refresh()
    #expect(heard.take() == [[[], [], ["bed", "door"]]] && shallow.take() == [])
    try store.write { shelf.places["door"] = nil }
    store.refresh()
    #expect(heard.take() == [[["door"], [], []]] && shallow.take() == [[["door"], [], []]])
    try store.write { try store.delete(dog) }
    store.refresh()
    #expect(heard.take() == [[["bed"], [], []]])
    for token in tokens { token.stop() }
  }

  @Test func skippedWritesAreKnown() throws {
    let store = try Store(configuration)
    let shelf = try makeShelf(store)
    let (set, map) = (Heard(), HeardMap())
    let tokens = [shelf.tags.observe { set.hear($0) }, shelf.prices.observe { map.hear($0) }]
    store.refresh()
    _ = (set.take(), map.take())
    try store.write(withoutNotifying: tokens) {
      shelf.tags.insert(5)
      shelf.prices["a"] = 1
    }
    try store.write {
      shelf.tags.insert(9)
      shelf.prices["b"] = 1
    }
    store.refresh()
    #expect(set.take() == [Heard.update([], [1])] && map.take() == [[[], ["b"], []]])
    for token in tokens { token.stop() }
  }

  /// Keys whose bytes differ are two keys, though Swift's strings call them equal.
  @Test func keysThatLookAlikeAreHeardApart() throws {
    let store = try Store(configuration)
    let shelf = try makeShelf(store)
    let (one, two) = ("e\u{301}", "\u{E9}")
    try store.write { for key in [one, two, "x"] { shelf.prices[key] = 1 } }
    let heard = HeardMap()
    let token = shelf.prices.observe { heard.hear($0) }
    store.refresh()
    _ = heard.take()
    try store.write { shelf.prices[two] = nil }
    store.refresh()
    #expect(heard.take().map { $0.map { $0.map { Array($0.utf8) } } } == [[[Array(two.utf8)], [], []]])
    try store.write(withoutNotifying: [token]) {
      shelf.prices[one] = nil
      shelf.prices[two] = 2
    }
    try store.write(withoutNotifying: [token]) { shelf.prices[one] = 3 }
    try store.write { try store.delete(shelf) }
    store.refresh()
    #expect(heard.take().last?.first?.map { Array($0.utf8) } == [one, "x", two].map { Array($0.utf8) })
    token.stop()
    let other = try makeShelf(store)
    try store.write { other.prices[one] = 1 }
    let properties = HeardProperties()
    properties.follow(other, \.prices) { "prices \($0.kind)" }
    try store.write { other.prices = [two: 1] }
    #expect(properties.take() == ["prices setting"])
    properties.stop()
  }

  @Test func ofAnObjectTheyArePropertiesWithChangesOfTheirOwn() throws {
    let store = try Store(configuration)
    let shelf = try makeShelf(store)
    var seen: [String] = []
    let token = shelf.observe { change in
      guard case .change(let properties) = change else { return }
      for property in properties {
        let elements = property.elements
        seen.append("\(property.name) +\(elements?.insertedMembers ?? []) ~\(elements?.modifiedMembers ?? [])")
      }
    }
    try store.write {
      shelf.tags.insert(3)
      shelf.prices["a"] = 1
    }
    store.refresh()
    #expect(seen == ["tags +\([Value.int(3)]) ~[]", "prices +\([Value.string("a")]) ~[]"])
    seen = []
    try store.write { shelf.prices["a"] = 2 }
    store.refresh()
    #expect(seen == ["prices +[] ~\([Value.string("a")])"])
    token.stop()
  }

  @Test func oneInNoStoreHearsAnError() throws {
    let heard = Heard()
    #expect(!Shelf().tags.observe { heard.hear($0) }.isActive)
    #expect(heard.take() == [.error(.wrongStore)])
  }

  @Test func insideTheSetterTheyJustChanged() throws {
    let store = try Store(configuration)
    let shelf = try makeShelf(store)
    let heard = HeardProperties()
    heard.follow(shelf, \.tags) { "tags \($0.kind) \($0.indexes)" }
    heard.follow(shelf, \.prices) { "prices \($0.kind) \($0.indexes)" }
    try store.write {
      shelf.tags.insert(1)
      shelf.tags.insert(1)
      shelf.tags.formUnion([2])
      shelf.prices["a"] = 1
      shelf.prices.removeAll()
      #expect(heard.take() == ["tags setting []", "tags setting []", "prices setting []", "prices setting []"])
    }
    heard.stop()
  }

  @Test func objectsThatPointHereAreACollectionToo() throws {
    let store = try Store(configuration)
    let dog = Dog(name: "Rex")
    let people = (0..<2).map { Person(name: "\($0)") }
    try store.write {
      try store.add(dog)
      for person in people { try store.add(person) }
    }
    let heard = Heard()
    let token = dog.owners.observe { heard.hear($0) }
    store.refresh()
    try store.write { for person in people { person.dogs.append(dog) } }
    store.refresh()
    try store.write { people[1].name = "x" }
    store.refresh()
    try store.write { people[0].dogs.removeAll() }
    store.refresh()
    #expect(heard.take() == [.initial(0), Heard.update([], [0, 1]), Heard.update([], [], [1]), Heard.update([0])])
    try store.write { try store.delete(dog) }
    store.refresh()
    #expect(heard.take() == [Heard.update([0])])
    token.stop()
  }

  /// Random edits by two writers: applying each change to what was told last gives what there is.
  @Test func everyChangeLeadsFromWhatWasToldToWhatIs() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<40 {
      let (store, other) = (try Store(configuration), try Store(configuration))
      let shelf = Shelf(number: random.below(1_000_000_000))
      try store.write { try store.add(shelf) }
      other.refresh()
      let same = try #require(other.resolve(shelf.reference))
      var (tags, prices): ([Int], [String: Int]) = ([], [:])
      let tokens = [
        shelf.tags.observe { change in
          if case .update(let set, let deletions, let insertions, _) = change {
            for position in deletions.reversed() { tags.remove(at: position) }
            for position in insertions { tags.insert(set[position], at: position) }
          }
          #expect(change.collection?.toArray() == tags)
        },
        shelf.prices.observe { change in
          guard case .update(let map, let deletions, let insertions, let modifications) = change else { return }
          for key in deletions { #expect(prices.removeValue(forKey: key) != nil) }
          for key in insertions { #expect(prices.updateValue(map[key] ?? -1, forKey: key) == nil) }
          for key in modifications { #expect(prices.updateValue(map[key] ?? -1, forKey: key) != nil) }
          #expect(prices == Dictionary(uniqueKeysWithValues: map.entries.map { ($0.key, $0.value) }))
        },
      ]
      store.refresh()
      for _ in 0..<20 {
        let (writer, target) = random.oneIn(2) ? (store, shelf) : (other, same)
        try writer.write {
          for _ in 0..<1 + random.below(4) {
            let (tag, key) = (random.below(12), "\(random.below(8))")
            if random.oneIn(2) { target.tags.insert(tag) } else { target.tags.remove(tag) }
            target.prices[key] = random.oneIn(3) ? nil : random.below(3)
          }
          if random.oneIn(12) { target.tags.removeAll() }
          if random.oneIn(12) { target.prices.removeAll() }
        }
        if random.oneIn(2) { store.refresh() }
      }
      store.refresh()
      #expect(shelf.tags.toArray() == tags && shelf.prices.count == prices.count)
      for token in tokens { token.stop() }
    }
  }

  // MARK: The same primary key again

  @Test func anObjectThatIsDeletedAndMadeAgainChanged() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let shelf = Shelf(number: 7, label: "old")
    try store.write { try store.add(shelf) }
    var seen: [String] = []
    let token = shelf.observe { change in
      switch change {
      case .change(let properties): seen += properties.map { "\($0.name) \($0.oldValue ?? .null) \($0.newValue ?? .null)" }
      case .deleted: seen.append("deleted")
      case .error(let error): seen.append("\(error)")
      }
    }
    store.refresh()
    other.refresh()
    try other.write {
      try other.delete(other.objects(Shelf.self))
      try other.add(Shelf(number: 7, label: "new"))
    }
    store.refresh()
    #expect(seen == ["label \(Value.string("old")) \(Value.string("new"))"])
    // From now on that one is followed.
    seen = []
    try other.write { other.objects(Shelf.self).first?.label = "newer" }
    store.refresh()
    #expect(seen == ["label \(Value.string("new")) \(Value.string("newer"))"])
    seen = []
    try other.write { try other.delete(other.objects(Shelf.self)) }
    store.refresh()
    #expect(seen == ["deleted"])
    token.stop()
  }
}
