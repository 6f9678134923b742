import Dispatch
import Testing
import Vivarium
import VivariumTestSupport

/// A newer program migrates the file of a store that is open: its observers are told so, once and last, and nobody waits for
/// ever.
@Suite struct OutdatedStoreTests {
  private let configuration: Store.Configuration

  init() {
    var made = StoreConfiguration.reference(nil, models: [Person.self, Dog.self, Shelf.self])
    made.manualDelivery = true
    configuration = made
  }

  /// What observers heard, each under a name, in the order of the calls.
  private final class Ears {
    private var calls: [String] = []

    func hear(_ who: String, _ what: String) { calls.append("\(who) \(what)") }

    func hear<C>(_ who: String, _ change: CollectionChange<C>) {
      switch change {
      case .initial: hear(who, "first")
      case .update: hear(who, "update")
      case .error(let error): hear(who, error.code.rawValue)
      }
    }

    func hear<V>(_ who: String, _ change: MapChange<V>) {
      switch change {
      case .initial: hear(who, "first")
      case .update: hear(who, "update")
      case .error(let error): hear(who, error.code.rawValue)
      }
    }

    func hear(_ who: String, _ change: ObjectChange) {
      switch change {
      case .change: hear(who, "change")
      case .deleted: hear(who, "deleted")
      case .error(let error): hear(who, error.code.rawValue)
      }
    }

    func hear<V>(_ who: String, _ change: AggregateChange<V>) {
      switch change {
      case .initial: hear(who, "first")
      case .update: hear(who, "update")
      case .error(let error): hear(who, error.code.rawValue)
      }
    }

    func take() -> [String] {
      defer { calls = [] }
      return calls
    }
  }

  @Test func everybodyWhoObservesIsToldOnceAndLast() throws {
    let store = try Store(configuration)
    let (ann, rex, shelf) = (Person(name: "Ann"), Dog(name: "Rex", age: 3), Shelf())
    try store.write {
      try store.add(ann)
      try store.add(shelf)
      ann.dogs.append(rex)
    }
    let ears = Ears()
    let tokens = [
      store.observe { notification, _ in ears.hear("store", "\(notification)") },
      store.objects(Dog.self).where { $0.age > 2 }.observe { ears.hear("results", $0) },
      try store.objects(Dog.self).observe(throttle: .seconds(3_600)) { ears.hear("resting", $0) },
      store.objects(Dog.self).observe(.count) { ears.hear("number", $0) },
      AnyStoreCollection(store.objects(Person.self)).observe { ears.hear("erased", $0) },
      rex.owners.observe { ears.hear("inverse", $0) },
      ann.dogs.observe { ears.hear("list", $0) },
      shelf.tags.observe { ears.hear("set", $0) },
      shelf.prices.observe { ears.hear("map", $0) },
      rex.observe { ears.hear("object", $0) },
      try ann.observe(observingProperties: ["dogs.age"]) { ears.hear("path", $0) },
      rex.observe(\.age) { _, _ in ears.hear("property", "set") },
    ]
    store.refresh()
    _ = ears.take()
    let newer = try migrate(configuration)
    try newer.write { newer.objects(Dog.self)[0].age = 9 }
    #expect(!store.refresh())
    // In the order of every turn: the store's, those of objects and collections, those of results.
    #expect(
      ears.take() == ["store refreshRequired"]
        + ["list", "set", "map", "object", "path", "results", "resting", "number", "erased", "inverse"]
        .map { "\($0) newerSchema" })
    // Silence, whatever the newer program does.
    try newer.write { try newer.delete(newer.objects(Dog.self)) }
    #expect(!store.refresh())
    #expect(ears.take() == [] && store.notifierWork.results == 0 && store.notifierWork.watches == 0)
    // The version that it could read last is there as before, and cannot be written.
    #expect(rex.age == 3 && store.objects(Dog.self).count == 1 && ann.dogs[0].name == "Rex")
    let refused = #expect(throws: StoreError.self) { try store.write { rex.age = 4 } }
    #expect(refused?.code == .newerSchema && refused?.details == ["fileVersion": "1", "programVersion": "0"])
    #expect(!store.isInWriteTransaction)
    for token in tokens { token.stop() }
  }

  @Test func whoObservesFromThenOnIsToldTheSame() throws {
    let store = try Store(configuration)
    let (ann, rex) = (Person(name: "Ann"), Dog(name: "Rex", age: 3))
    try store.write {
      try store.add(ann)
      ann.dogs.append(rex)
    }
    _ = try migrate(configuration)
    store.refresh()
    let ears = Ears()
    let tokens = [
      store.objects(Dog.self).observe { ears.hear("results", $0) },
      store.objects(Dog.self).observe(.count) { ears.hear("number", $0) },
      ann.dogs.observe { ears.hear("list", $0) },
      rex.observe { ears.hear("object", $0) },
    ]
    #expect(ears.take() == [])
    store.refresh()
    #expect(ears.take() == ["list", "object", "results", "number"].map { "\($0) newerSchema" })
    store.refresh()
    #expect(ears.take() == [])
    // In another context, where a store of its own would have to begin.
    let heard = Mailbox<String>(empty: "")
    let queue = DispatchQueue(label: "observing")
    let elsewhere = rex.observe(on: queue) { if case .error(let error) = $0 { heard.send(error.code.rawValue) } }
    #expect(heard.next() == "newerSchema")
    for token in tokens + [elsewhere] { token.stop() }
  }

  /// Nothing that was let go of comes back.
  @Test func aStoreThatLetGoOfItsVersionStaysEmpty() throws {
    let store = try Store(configuration)
    try store.write { try store.add(Dog(name: "Rex")) }
    let ears = Ears()
    let token = store.objects(Dog.self).observe { ears.hear("results", $0) }
    store.refresh()
    store.invalidate()
    _ = try migrate(configuration)
    #expect(!store.refresh() && store.objects(Dog.self).isEmpty)
    #expect(ears.take() == ["results first", "results newerSchema"])
    token.stop()
  }

  @Test func aBlockThatMeetsItByWritingHearsItInside() throws {
    let store = try Store(configuration)
    let other = try Store(configuration)
    let ears = Ears()
    var refused: StoreError.Code?
    let first = store.objects(Dog.self).observe { change in
      ears.hear("first", change)
      guard case .update = change else { return }
      do {
        _ = try migrate(configuration)
        try store.write { try store.add(Dog(name: "Max")) }
      } catch {
        refused = (error as? StoreError)?.code
      }
      ears.hear("first", "went on")
    }
    let second = store.objects(Dog.self).where { $0.age < 9 }.observe { ears.hear("second", $0) }
    store.refresh()
    _ = ears.take()
    other.refresh()
    try other.write { try other.add(Dog(name: "Rex")) }
    store.refresh()
    // What was still to be told of the version before is not: the error is the last.
    #expect(ears.take() == ["first update", "first newerSchema", "second newerSchema", "first went on"])
    #expect(refused == .newerSchema)
    store.refresh()
    #expect(ears.take() == [])
    first.stop()
    second.stop()
  }

  @Test func itIsToldInATurnOfTheStoresContext() throws {
    let desk = try Desk(configuration)
    let ears = Ears()
    try desk.use { store in
      try store.write { try store.add(Dog(name: "Rex")) }
      let queue = desk.queue
      desk.tokens = [
        store.objects(Dog.self).observe { change in
          dispatchPrecondition(condition: .onQueue(queue))
          ears.hear("results", change)
          desk.heard.fire()
        },
        store.objects(Dog.self)[0].observe { change in
          dispatchPrecondition(condition: .onQueue(queue))
          ears.hear("object", change)
          desk.heard.fire()
        },
      ]
    }
    #expect(desk.heard.wait())
    let newer = try migrate(configuration)
    #expect(desk.heard.wait() && desk.heard.wait())
    try newer.write { try newer.add(Dog(name: "Max")) }
    try desk.settle()
    try desk.use { store in
      #expect(ears.take() == ["results first", "object newerSchema", "results newerSchema"])
      #expect(store.objects(Dog.self).count == 1)
      for token in desk.tokens { token.stop() }
    }
  }

  @Test func aStoreThatStaysWhereItIsTellsItWhenItIsRefreshed() throws {
    var staying = configuration
    staying.autorefresh = false
    let desk = try Desk(staying)
    let ears = Ears()
    try desk.use { store in
      try store.write { try store.add(Dog(name: "Rex")) }
      desk.tokens = [
        store.objects(Dog.self).observe { ears.hear("results", $0) },
        store.observe { notification, _ in
          ears.hear("store", "\(notification)")
          if notification == .refreshRequired { desk.heard.fire() }
        },
      ]
      store.refresh()
      _ = ears.take()
    }
    _ = try migrate(configuration)
    #expect(desk.heard.wait())
    try desk.settle()
    try desk.use { store in
      #expect(ears.take() == ["store refreshRequired"])
      #expect(!store.refresh())
      #expect(ears.take() == ["store refreshRequired", "results newerSchema"])
      for token in desk.tokens { token.stop() }
    }
  }

  // MARK: Waiting

  @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func nobodyWaitsForEver(autorefresh: Bool) async throws {
    var older = configuration
    older.autorefresh = autorefresh
    let waiter = try Waiter(older)
    let before = try await waiter.add()
    let version = try migrate(configuration).version
    #expect(version > before)
    for _ in 0..<2 { #expect(await waiter.codeOfWaiting(for: version) == .newerSchema) }
    // What it was told of is nothing to wait for.
    #expect(await waiter.codeOfWaiting(for: before) == nil)
    #expect(await waiter.codeOfWriting() == .newerSchema)
  }

  @Test(.timeLimit(.minutes(10))) func sequencesEndWithIt() async throws {
    let waiter = try Waiter(configuration)
    #expect(try await waiter.changesWhileMigrating(configuration) == ["first", "newerSchema", "end"])
    // One that begins afterwards.
    #expect(try await waiter.changesWhileMigrating(nil) == ["newerSchema", "end"])
  }

  @Test(.timeLimit(.minutes(10))) func theChangeFeedEndsWithItAfterTheLastCommitThatCanBeRead() async throws {
    let waiter = try Waiter(configuration)
    #expect(try await waiter.commitsWhileMigrating(configuration) == ["ann", "newerSchema"])
  }
}

/// A newer program opens the file: one with the same models, of a later version of its schema.
private func migrate(_ configuration: Store.Configuration) throws -> Store {
  var newer = configuration
  newer.schemaVersion = 1
  newer.migration = { _, _ in }
  return try Store(newer, isolation: nil)
}

private actor Waiter {
  private let store: Store

  init(_ configuration: Store.Configuration) throws { store = try Store(configuration) }

  /// The store's version after a commit of its own.
  func add(author: String? = nil) throws -> Version {
    try store.write(author: author) { try store.add(Dog(name: "Rex")) }
    return store.version
  }

  func codeOfWaiting(for version: Version) async -> StoreError.Code? {
    do throws(StoreError) {
      try await store.waitUntilNotified(of: version)
      return nil
    } catch {
      return error.code
    }
  }

  func codeOfWriting() async -> StoreError.Code? {
    do {
      try await store.write { store in try store.add(Dog(name: "Max")) }
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  /// What a sequence of changes gives when the file is migrated after its first element.
  func changesWhileMigrating(_ configuration: Store.Configuration?) async throws -> [String] {
    var calls: [String] = []
    for await change in store.objects(Dog.self).changes {
      switch change {
      case .initial:
        calls.append("first")
        if let configuration { _ = try migrate(configuration) }
      case .update: calls.append("update")
      case .error(let error): calls.append(error.code.rawValue)
      }
    }
    return calls + ["end"]
  }

  func commitsWhileMigrating(_ configuration: Store.Configuration) async throws -> [String] {
    var calls: [String] = []
    let start = store.version
    _ = try add(author: "ann")
    do {
      for try await commit in store.changes(since: start) {
        calls.append(commit.author ?? "-")
        _ = try migrate(configuration)
      }
    } catch {
      calls.append((error as? StoreError)?.code.rawValue ?? "\(error)")
    }
    return calls
  }
}
