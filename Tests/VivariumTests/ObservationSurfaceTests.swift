import Dispatch
import Testing
import Vivarium
import VivariumTestSupport

/// Whatever can be observed takes every option, and in every context.
@Suite struct ObservationSurfaceTests {
  let configuration = StoreConfiguration.reference(nil, models: [Shelf.self, Dog.self, Person.self]).byHand

  private func filledStore(_ misuse: MisusePolicy = .trapInDebug) throws -> (Store, Shelf, Person, Dog) {
    var configuration = configuration
    configuration.misuse = misuse
    let store = try Store(configuration)
    let (shelf, person, dog) = (Shelf(), Person(name: "Ann"), Dog(name: "Rex", age: 1))
    try store.write {
      try store.add(shelf)
      try store.add(person)
      person.dogs.append(dog)
      person.best = dog
      shelf.dogs.insert(dog)
      shelf.places["home"] = dog
    }
    return (store, shelf, person, dog)
  }

  /// Observes everything that leads to a dog, in one way.
  private func observeAll(
    _ store: Store, _ shelf: Shelf, _ person: Person, _ options: ObservationOptions, _ hear: @escaping (String) -> Void
  ) -> [NotificationToken] {
    func tell<C>(_ name: String) -> (CollectionChange<C>) -> Void {
      { change in if case .update = change { hear(name) } else if case .error(let error) = change { hear(error.code.rawValue) } }
    }
    let dogs = store.objects(Dog.self)
    return [
      dogs.observe(options: options, tell("results")),
      dogs.filter(reading: [String]()) { _ in true }.observe(options: options, tell("filtered")),
      dogs.filter(bind: person, \.age) { dog, _ in nil }.observe(options: options, tell("bound")),
      person.dogs.observe(options: options, tell("list")),
      shelf.dogs.observe(options: options, tell("set")),
      AnyStoreCollection(shelf.places).observe(options: options, tell("entries")),
      AnyStoreCollection(person.dogs).observe(options: options, tell("any")),
      shelf.places.observe(options: options) { if case .update = $0 { hear("map") } },
    ]
  }

  @Test func namesAndIgnoredNamesCountEverywhere() throws {
    let (store, shelf, person, dog) = try filledStore()
    var (named, ignoring): ([String], [String]) = ([], [])
    let tokens =
      observeAll(store, shelf, person, ObservationOptions(keyPaths: [\Dog.name])) { named.append($0) }
      + observeAll(store, shelf, person, ObservationOptions(ignoring: ["age"])) { ignoring.append($0) }
    store.refresh()
    try store.write { dog.age = 9 }
    store.refresh()
    #expect(named == [] && ignoring == [])
    try store.write { dog.name = "Max" }
    store.refresh()
    let all = ["any", "bound", "entries", "filtered", "list", "map", "results", "set"]
    #expect(named.sorted() == all && ignoring.sorted() == all)
    for token in tokens { token.stop() }
  }

  @Test func aRestIsForEverybodyAndEndsWhereSomebodyWaits() throws {
    let (store, shelf, person, dog) = try filledStore()
    let other = try Store(configuration)
    guard let twin = other.objects(Dog.self).first else { return #expect(Bool(false)) }
    var heard: [String] = []
    let tokens = observeAll(store, shelf, person, ObservationOptions(throttle: .seconds(3_600))) { heard.append($0) }
    let object = dog.observe(options: ObservationOptions(throttle: .seconds(3_600))) { _ in heard.append("object") }
    let count = store.objects(Dog.self).aggregate(.max(of: \.age)).observe(
      options: ObservationOptions(throttle: .seconds(3_600))
    ) { if case .update = $0 { heard.append("number") } }
    store.refresh()
    // The object has its first call.
    try other.write { twin.age = 2 }
    store.refresh()
    let all = ["any", "bound", "entries", "filtered", "list", "map", "number", "object", "results", "set"]
    #expect(heard.sorted() == all)
    heard = []
    try other.write { twin.age = 3 }
    // A turn, which waits for nobody.
    other.refresh()
    store.deliverReady()
    #expect(heard == [])
    try other.write { twin.age = 4 }
    store.refresh()
    #expect(heard.sorted() == all)
    for token in tokens + [object, count] { token.stop() }
  }

  @Test func howFarLinksAreFollowedIsSaid() throws {
    let (store, _, person, dog) = try filledStore()
    var heard: [String] = []
    func observe(_ depth: Int?, _ name: String) -> [NotificationToken] {
      let options = ObservationOptions(linkDepth: depth)
      return [
        store.objects(Person.self).observe(options: options) { if case .update = $0 { heard.append("results \(name)") } },
        person.observe(options: options) { _ in heard.append("object \(name)") },
      ]
    }
    let tokens = observe(nil, "nil") + observe(0, "0") + observe(1, "1") + observe(.max, "max")
    store.refresh()
    try store.write { dog.name = "Max" }
    store.refresh()
    #expect(heard.sorted() == ["object 1", "object max", "results 1", "results max", "results nil"])
    for token in tokens { token.stop() }
  }

  @Test func aNameThatLeadsNowhereIsToldOrThrown() throws {
    let (store, shelf, person, _) = try filledStore(.ignore)
    var heard: [String] = []
    let tokens = observeAll(store, shelf, person, ObservationOptions(properties: ["wings"])) { heard.append($0) }
    let path = person.dogs.observe(keyPaths: [\.bestOf?.name]) { change in
      if case .error(let error) = change { heard.append("path \(error.code.rawValue)") }
    }
    store.refresh()
    #expect(heard.filter { $0 == "unknownProperty" }.count == tokens.count - 1)  // a map says it in its own words
    #expect(heard.contains("path unknownProperty"))
    let thrown = #expect(throws: StoreError.self) { try person.dogs.observe(ignoringProperties: ["wings"]) { _ in } }
    #expect(thrown?.code == .unknownProperty)
    for token in tokens + [path] { token.stop() }
  }

  @Test func entriesOfAMapAreToldByPosition() throws {
    let (store, shelf, _, dog) = try filledStore()
    let entries = AnyStoreCollection(shelf.places)
    #expect(entries.count == 1 && entries[0].key == "home" && entries.map(\.value) == [dog])
    let heard = Heard()
    let token = entries.observe { heard.hear($0) }
    store.refresh()
    try store.write { shelf.places["attic"] = dog }
    store.refresh()
    #expect(heard.take() == [.initial(1), Heard.update([], [0])])
    try store.write { shelf.places["home"] = nil }
    store.refresh()
    #expect(heard.take() == [Heard.update([1])])
    token.stop()
  }

  @Test func whatIsBoundFilteredOrANumberIsObservedOnAQueueToo() throws {
    let (store, _, person, dog) = try filledStore()
    let queue = DispatchQueue(label: "surface")
    let (bound, filtered, number) = (Mailbox(empty: -1), Mailbox(empty: -1), Mailbox(empty: -1))
    let dogs = store.objects(Dog.self)
    let tokens = [
      dogs.filter(bind: person, \.age) { dog, age in dog.age > age }.observe(on: queue) { bound.send($0.collection?.count ?? -2) },
      dogs.filter(reading: [\.age]) { $0.age > 5 }.observe(on: queue) { filtered.send($0.collection?.count ?? -2) },
      dogs.aggregate(.sum(of: \.age)).observe(on: queue) { number.send($0.value ?? -2) },
    ]
    #expect(bound.next() == 1 && filtered.next() == 0 && number.next() == 1)
    try store.write { dog.age = 7 }
    #expect(filtered.next() == 1 && number.next() == 7)
    try store.write { person.age = 7 }
    // Perhaps in one call with what was before, perhaps after it.
    var last = bound.next()
    while last == 1 { last = bound.next() }
    #expect(last == 0)
    for token in tokens { token.stop() }
    queue.sync {}
  }

  @Test func aChangeIsMapped() {
    let change = CollectionChange<[Int]>.update([1, 2], deletions: [0], insertions: [1], modifications: [])
    guard case .update(let count, let deletions, let insertions, _) = change.map(\.count) else { return #expect(Bool(false)) }
    #expect(count == 2 && deletions == [0] && insertions == [1])
  }
}
