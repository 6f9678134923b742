import Dispatch
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// Commits of one store of which a token of another is not told, while changes wait for that token.
@Suite struct SkippingElsewhereTests {
  private func makeStores() throws -> (Store, Store) {
    var configuration = StoreConfiguration.reference(
      nil, models: [Shop.self, Clerk.self, Place.self, Room.self, Person.self, Dog.self])
    configuration.manualDelivery = true
    return (try Store(configuration, isolation: nil), try Store(configuration, isolation: nil))
  }

  @Test func aListsTokenHearsOfWhatWaitsAndOfNothingElse() throws {
    let (store, other) = try makeStores()
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.scores.append(contentsOf: [1, 2, 3])
    }
    let heard = Heard()
    let token = person.scores.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.initial(3)])
    other.refresh()
    let same = try #require(other.resolve(person.reference))
    // This waits: the store does not move.
    try other.write { same.scores.append(4) }
    // The interface took the first row out by itself.
    try other.write(withoutNotifying: [token]) { same.scores.remove(at: 0) }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [2])])
    try other.write(withoutNotifying: [token]) { same.scores.insert(9, at: 0) }
    store.refresh()
    #expect(heard.take() == [])
    try other.write { same.scores.remove(at: 0) }
    store.refresh()
    #expect(heard.take() == [Heard.update([0], [])])
    token.stop()
  }

  @Test func setsAndMapsAreSkippedByMember() throws {
    let (store, other) = try makeStores()
    let shop = Shop()
    try store.write { try store.add(shop) }
    let heard = Heard()
    var keys: [[String]] = []
    let tags = shop.tags.observe { heard.hear($0) }
    let phones = shop.phones.observe { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        keys.append(deletions + insertions + modifications)
      }
    }
    store.refresh()
    _ = heard.take()
    other.refresh()
    let same = try #require(other.resolve(shop.reference))
    try other.write {
      same.tags.formUnion(["b", "c"])
      same.phones["home"] = "1"
    }
    try other.write(withoutNotifying: [tags, phones]) {
      same.tags.insert("a")
      same.tags.remove("c")
      same.phones["work"] = "2"
    }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [1])] && keys == [["home"]])
    tags.stop()
    phones.stop()
  }

  /// The last call, which no commit lists the keys of, deletes what skipped commits inserted, and not what they removed.
  @Test(arguments: [false, true]) func theLastCallOfAMapKnowsSkippedKeys(isElsewhere: Bool) throws {
    let (store, other) = try makeStores()
    let shop = Shop()
    try store.write {
      try store.add(shop)
      shop.phones["first"] = "1"
      shop.phones["gone"] = "2"
    }
    var deleted: [[String]] = []
    let token = shop.phones.observe { change in
      if case .update(_, let deletions, _, _) = change { deleted.append(deletions) }
    }
    store.refresh()
    other.refresh()
    let writer = isElsewhere ? other : store
    let same = try #require(writer.resolve(shop.reference))
    for skipped in ["x", "y"] { try writer.write(withoutNotifying: [token]) { same.phones[skipped] = "3" } }
    try writer.write(withoutNotifying: [token]) { same.phones["gone"] = nil }
    try writer.write(withoutNotifying: [token]) { same.phones["y"] = nil }
    try writer.write { try writer.delete(same) }
    store.refresh()
    #expect(deleted == [["first", "x"]])
    token.stop()
  }

  /// The other context has had no turn yet in which it could begin.
  @Test func aTokenOfAnotherContextIsPassedOverFromItsFirstMoment() throws {
    let (store, _) = try makeStores()
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.scores.append(1)
    }
    let queue = DispatchQueue(label: "observing")
    let (object, list) = (Mailbox<[String]>(empty: []), Mailbox<[Int]>(empty: []))
    queue.suspend()
    let tokens = [
      person.observe(on: queue) { change in
        guard case .change(let properties) = change else { return object.send(["\(change)"]) }
        object.send(properties.map { "\($0.name) \($0.oldValue ?? .null) \($0.newValue ?? .null)" })
      },
      person.scores.observe(on: queue) { change in
        if case .update(_, _, let insertions, _) = change { list.send(insertions) } else { list.send([-1]) }
      },
    ]
    try store.write { person.age = 5 }
    try store.write(withoutNotifying: tokens) {
      person.name = "Bea"
      person.scores.append(2)
    }
    queue.resume()
    func line(_ name: String, _ old: Value, _ new: Value) -> String { "\(name) \(old) \(new)" }
    #expect(object.next() == [line("age", .int(0), .int(5))] && list.next() == [-1])
    try store.write {
      person.name = "Cas"
      person.scores.append(3)
    }
    #expect(object.next().first == line("name", .string("Bea"), .string("Cas")))
    #expect(list.next() == [2])
    // One that is stopped before it begins tells nothing.
    queue.suspend()
    let late = person.observe(on: queue) { object.send(["late \($0)"]) }
    #expect(late.stop() && !late.stop())
    queue.resume()
    try store.write { person.age = 6 }
    #expect(object.next() == [line("age", .int(5), .int(6))])
    for token in tokens { token.stop() }
    queue.sync {}
  }

  @Test func anObjectsTokenIsExactForItsCollectionsToo() throws {
    let (store, other) = try makeStores()
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.scores.append(contentsOf: [1, 2, 3])
    }
    var heard: [String] = []
    let token = person.observe { change in
      guard case .change(let properties) = change else { return heard.append("\(change)") }
      for property in properties {
        let elements = property.elements.map { "-\($0.deletions) +\($0.insertions) ~\($0.modifications)" }
        heard.append("\(property.name) \(elements ?? "")")
      }
    }
    store.refresh()
    other.refresh()
    let same = try #require(other.resolve(person.reference))
    try other.write { same.scores.append(4) }
    try other.write(withoutNotifying: [token]) {
      same.scores.remove(at: 0)
      same.age = 5
    }
    store.refresh()
    #expect(heard == ["scores -[] +[2] ~[]"])
    token.stop()
  }
}
