import Dispatch
import Testing
import Vivarium
import VivariumTestSupport

/// Lists, sets, maps and inverses observed in another context than the caller's.
@Suite struct CollectionsElsewhereTests {
  private func makeStore() throws -> Store {
    var configuration = StoreConfiguration.reference(
      nil, models: [Shop.self, Clerk.self, Place.self, Room.self, Person.self, Dog.self])
    configuration.manualDelivery = true
    return try Store(configuration, isolation: nil)
  }

  @Test func listsAreObservedOnAQueueFromAnywhere() throws {
    let store = try makeStore()
    let person = Person(name: "Ann")
    try store.write { try store.add(person) }
    let queue = DispatchQueue(label: "observing")
    let heard = Mailbox<String>(empty: "")
    let token = person.dogs.observe(on: queue) { change in
      dispatchPrecondition(condition: .onQueue(queue))
      let names = change.collection?.map(\.name).joined(separator: ",") ?? "-"
      if case .update(_, let deletions, let insertions, let modifications) = change {
        heard.send("\(names) -\(deletions) +\(insertions) ~\(modifications.new)")
      } else {
        heard.send(names)
      }
    }
    #expect(heard.next() == "")
    let rex = Dog(name: "Rex")
    try store.write { person.dogs.append(contentsOf: [rex, Dog(name: "Max")]) }
    #expect(heard.next() == "Rex,Max -[] +[0, 1] ~[]")
    try store.write(withoutNotifying: [token]) { person.dogs.append(Dog(name: "Fay")) }
    try store.write { rex.name = "Roy" }
    #expect(heard.next() == "Roy,Max,Fay -[] +[] ~[0]")
    try store.write { person.dogs.remove(at: 1) }
    #expect(heard.next() == "Roy,Fay -[1] +[] ~[]")
    #expect(token.stop() && !token.stop())
    queue.sync {}
  }

  @Test func setsMapsAndInversesAreObservedOnAQueueFromAnywhere() throws {
    let store = try makeStore()
    let (shop, clerk) = (Shop(), Clerk(name: "Al"))
    try store.write { try store.add(shop) }
    try store.write { try store.add(clerk) }
    let queue = DispatchQueue(label: "observing")
    let (tags, staff, shops) = (Mailbox<[String]>(empty: []), Mailbox<[String]>(empty: []), Mailbox<Int>(empty: -1))
    let tokens = [
      shop.tags.observe(on: queue) { change in tags.send(change.collection?.toArray() ?? ["-"]) },
      shop.staff.observe(on: queue) { change in
        switch change {
        case .initial(let map): staff.send(["first \(map.count)"])
        case .update(_, let deletions, let insertions, let modifications): staff.send(deletions + insertions + modifications)
        case .error: staff.send(["-"])
        }
      },
      clerk.shops.observe(on: queue) { change in shops.send(change.collection?.count ?? -1) },
    ]
    #expect(tags.next() == [] && staff.next() == ["first 0"] && shops.next() == 0)
    try store.write {
      shop.tags.formUnion(["b", "a"])
      shop.staff["desk"] = clerk
    }
    #expect(tags.next() == ["a", "b"] && staff.next() == ["desk"] && shops.next() == 1)
    for token in tokens { token.stop() }
    queue.sync {}
  }

  @Test func collectionsAreObservedOnAnActorThatTheBlockIsGiven() async throws {
    let store = try makeStore()
    let (person, shop) = (Person(name: "Ann"), Shop())
    try store.write {
      try store.add(person)
      try store.add(shop)
    }
    let (list, set, map) = (ShownNames(), ShownNames(), ShownNames())
    let tokens = [
      person.scores.observe(on: list) { list, change in list.set(change.collection?.map { "\($0)" } ?? []) },
      shop.tags.observe(on: set) { set, change in set.set(change.collection?.toArray() ?? []) },
      shop.phones.observe(on: map) { map, change in
        switch change {
        case .initial(let phones), .update(let phones, _, _, _): map.set(phones.keys)
        case .error: map.set(["error"])
        }
      },
    ]
    try store.write {
      person.scores.append(2)
      shop.tags.insert("a")
      shop.phones["home"] = "1"
    }
    await list.wait(until: ["2.0"])
    await set.wait(until: ["a"])
    await map.wait(until: ["home"])
    try store.write { shop.phones["work"] = "2" }
    await map.wait(until: ["home", "work"])
    for token in tokens { token.stop() }
  }

  @Test func aCollectionInNoStoreIsRefused() {
    let queue = DispatchQueue(label: "observing")
    let heard = Mailbox<StoreError.Code?>(empty: nil)
    let token = Person(name: "Ann").dogs.observe(on: queue) { change in
      if case .error(let error) = change { heard.send(error.code) }
    }
    #expect(!token.isActive && heard.next() == .wrongStore)
  }
}
