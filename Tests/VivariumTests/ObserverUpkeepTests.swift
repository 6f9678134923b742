import Dispatch
import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Guild {
  var name = ""
  var rank = 0
  var allies: LiveSet<Guild>
  var posts: LiveMap<Guild>
  @Inverse(\Guild.allies) var alliedBy: LinkingObjects<Guild>
  @Inverse(\Guild.posts) var postedBy: LinkingObjects<Guild>
}

/// What becomes of observers that were stopped, failed or told their last, and of the turns of those that remain.
@Suite struct ObserverUpkeepTests {
  private final class Probe {}

  // MARK: Turns

  @Test func afterTheLastTokenOfACollectionTurnsComeFromEveryCommit() throws {
    let configuration = makeConfiguration()
    let desk = try Desk(configuration)
    let started = Signal()
    weak var kept: Probe?
    try desk.use { store in
      desk.tokens.append(store.observe { _, _ in desk.heard.fire() })
      let probe = Probe()
      kept = probe
      desk.tokens.append(store.objects(Dog.self).observe { _ in withExtendedLifetime(probe) { started.fire() } })
    }
    #expect(started.wait())
    try desk.use { _ in desk.tokens[1].stop() }
    try desk.settle()
    #expect(kept == nil)
    let writer = try Store(configuration)
    try writer.write { try writer.add(Dog()) }
    #expect(desk.heard.wait())
    #expect(try desk.use { $0.objects(Dog.self).count } == 1)
    try desk.use { _ in desk.tokens[0].stop() }
  }

  @Test func afterAnErrorTurnsGoOn() throws {
    let configuration = makeConfiguration(misuse: .ignore)
    let desk = try Desk(configuration)
    let failed = Signal()
    try desk.use { store in
      desk.tokens.append(store.observe { _, _ in desk.heard.fire() })
      desk.tokens.append(store.objects(Dog.self).filter("nonsense(").observe { if case .error = $0 { failed.fire() } })
    }
    #expect(failed.wait())
    try desk.settle()
    let writer = try Store(configuration)
    try writer.write { try writer.add(Dog()) }
    #expect(desk.heard.wait())
    try desk.use { _ in for token in desk.tokens { token.stop() } }
  }

  @Test func aTurnThatAWriteSwallowedComesAfterIt() throws {
    let desk = try Desk(makeConfiguration())
    let started = Signal()
    try desk.use { store in
      try store.beginWrite()
      desk.tokens.append(store.objects(Dog.self).observe { if case .initial = $0 { started.fire() } })
    }
    try desk.settle()
    #expect(started.count == 0)
    try desk.use { $0.cancelWrite() }
    #expect(started.wait())
    try desk.use { _ in desk.tokens[0].stop() }
  }

  @Test func observersOfAnActorsInitHearToo() async throws {
    let configuration = makeConfiguration()
    let (early, late) = (Signal(), Signal())
    let room = try Room(configuration, early)
    await room.observe(late)
    let writer = try Store(configuration)
    try writer.write { try writer.add(Dog()) }
    // The first result may be found after the commit was heard of.
    await room.until { $0 == 1 && early.count >= 1 }
    await room.stopEarly()
    try writer.write { try writer.add(Dog()) }
    await room.until { $0 == 2 && late.count >= 1 }
    await room.stopLate()
  }

  private actor Room {
    private let store: Store
    private let early: NotificationToken
    private var late: NotificationToken?
    private let waiting: Waiting

    private final class Waiting {
      var continuation: CheckedContinuation<Void, Never>?

      func wake() {
        continuation?.resume()
        continuation = nil
      }
    }

    /// Not isolated yet.
    init(_ configuration: Store.Configuration, _ heard: Signal) throws {
      let (store, waiting) = (try Store(configuration), Waiting())
      early = store.objects(Dog.self).observe { _ in
        heard.fire()
        waiting.wake()
      }
      (self.store, self.waiting) = (store, waiting)
    }

    func observe(_ heard: Signal) {
      let waiting = waiting
      late = store.observe { _, _ in
        heard.fire()
        waiting.wake()
      }
    }

    func until(_ condition: @Sendable (Int) -> Bool) async {
      while !condition(store.objects(Dog.self).count) { await withCheckedContinuation { waiting.continuation = $0 } }
    }

    func stopEarly() { early.stop() }
    func stopLate() { late?.stop() }
  }

  @Test func anInvalidatedStoreTellsNothingUntilItIsRefreshed() throws {
    var configuration = makeConfiguration()
    configuration.autorefresh = false
    let desk = try Desk(configuration)
    let counts = Mutex<[Int]>([])
    try desk.use { store in
      try store.write { try store.add(Dog()) }
      store.invalidate()
      desk.tokens.append(
        store.objects(Dog.self).observe { change in counts.withLock { $0.append(change.collection?.count ?? -1) } })
    }
    try desk.settle()
    #expect(counts.withLock { $0 } == [])
    try desk.use { $0.refresh() }
    #expect(counts.withLock { $0 } == [1])
    try desk.use { _ in desk.tokens[0].stop() }
  }

  @Test func changesAreNotAskedForInsideAWrite() async throws {
    let clerk = try Clerk(makeConfiguration())
    #expect(try await clerk.countAfterAWrite() == 2)
  }

  /// Asks for changes while another task of its actor has a write open.
  private actor Clerk {
    private let store: Store
    private var iterator: CollectionChanges<Dog>.Iterator?
    private var isAsking = false

    init(_ configuration: Store.Configuration) throws { store = try Store(configuration) }

    func countAfterAWrite() async throws -> Int? {
      try store.write { try store.add(Dog()) }
      iterator = store.objects(Dog.self).changes.makeAsyncIterator()
      guard await next() == 1 else { return nil }
      try store.write { try store.add(Dog()) }
      try store.beginWrite()
      try store.add(Dog())
      isAsking = false
      let asking = Task { await next() }
      while !isAsking { await Task.yield() }
      store.cancelWrite()
      return await asking.value
    }

    private func next() async -> Int? {
      isAsking = true
      return await iterator?.next(isolation: self)?.collection?.count
    }
  }

  @Test func anObjectObservedInsideAWriteIsToldOfAllThatTheWriteDid() throws {
    let store = try makeStore()
    let person = Person(name: "Ann", age: 1)
    person.dogs = [Dog(name: "a"), Dog(name: "b")]
    try store.write { try store.add(person) }
    var heard: [String] = []
    func hear(_ change: ObjectChange) {
      switch change {
      case .change(let changes):
        for change in changes {
          heard.append(change.elements.map { "\(change.name) +\($0.insertions)" } ?? "\(change.name) \(change.oldValue ?? .null)")
        }
      case .deleted: heard.append("deleted")
      case .error(let error): heard.append("\(error.code.rawValue)")
      }
    }
    try store.beginWrite()
    person.age = 2
    person.dogs.append(Dog(name: "c"))
    var tokens = [person.observe { hear($0) }]
    person.dogs.append(Dog(name: "d"))
    try store.commitWrite()
    store.refresh()
    #expect(heard == ["age \(Value.int(1))", "dogs +[2, 3]"])
    heard = []
    // What is undone was never there.
    try store.beginWrite()
    person.age = 7
    tokens.append(person.observe(keyPaths: [\.age]) { hear($0) })
    store.cancelWrite()
    store.refresh()
    try store.write { person.age = 8 }
    store.refresh()
    #expect(heard == ["age \(Value.int(2))", "age \(Value.int(2))"])
    heard = []
    try store.write {
      let dog = Dog()
      try store.add(dog)
      tokens.append(dog.observe { hear($0) })
    }
    store.refresh()
    #expect(heard == ["alreadyInWrite"])
    for token in tokens { token.stop() }
  }

  // MARK: What is kept

  @Test func anObjectThatWasToldDeletedIsWatchedNoMore() throws {
    let store = try makeStore()
    let dogs = (0..<5).map { Dog(name: "\($0)") }
    try store.write { try store.add(dogs) }
    var deleted = 0
    let tokens = dogs.map { dog in dog.observe { if case .deleted = $0 { deleted += 1 } } }
    store.refresh()
    #expect(store.notifierWork.watches == 5)
    try store.write { try store.delete(dogs.dropLast()) }
    store.refresh()
    #expect(deleted == 4 && store.notifierWork.watches == 1 && store.notifierWork.places == 1)
    for token in tokens { token.stop() }
    #expect(store.notifierWork.watches == 0 && store.notifierWork.places == 0)
  }

  @Test func aPropertysObserverIsLetGoOfWithItsToken() throws {
    let desk = try Desk(makeConfiguration())
    weak var kept: Probe?
    try desk.use { store in
      let dog = Dog(name: "Rex")
      try store.write { try store.add(dog) }
      let probe = Probe()
      kept = probe
      desk.tokens.append(dog.observe(\.name) { _, _ in withExtendedLifetime(probe) {} })
    }
    #expect(kept != nil)
    try desk.use { _ in desk.tokens[0].stop() }
    try desk.settle()
    #expect(kept == nil)
  }

  @Test func aFailedCommitTakesValuesBack() throws {
    let isFull = Flag()
    var configuration = makeConfiguration()
    configuration.backend = ForwardingBackend(configuration.backend) { engine in
      ForwardingEngine(engine, write: { FullWrite(base: $0, isFull: isFull) })
    }
    let store = try Store(configuration)
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    var ages: [Int] = []
    let token = dog.observe(\.age) { _, change in ages.append(change.newValue ?? -1) }
    isFull.isRaised.store(true, ordering: .releasing)
    #expect { try store.write { dog.age = 2 } } throws: { StoreError.Code.outOfDiskSpace ~= $0 }
    #expect(ages == [2, 1] && dog.age == 1)
    token.stop()
  }

  @Test func aHandlerOfAPropertyMayRegisterOthers() throws {
    let configuration = makeConfiguration()
    let (store, other) = (try Store(configuration), try Store(configuration))
    let dogs = (0..<20).map { Dog(name: "\($0)") }
    try store.write { try store.add(dogs) }
    var heard: Set<String> = []
    var tokens: [NotificationToken] = []
    // Whichever dog is looked at first, its handler registers another observer of all the others.
    for dog in dogs {
      tokens.append(
        dog.observe(\.age) { _, _ in
          if tokens.count > dogs.count { return }
          for dog in dogs { tokens.append(dog.observe(\.name) { dog, _ in heard.insert(dog.name) }) }
        })
    }
    other.refresh()
    try other.write { for dog in other.objects(Dog.self) { dog.age += 1 } }
    store.refresh()
    try store.write { for dog in dogs { dog.name += "!" } }
    #expect(heard.count == 20)
    for token in tokens { token.stop() }
  }

  // MARK: Many observers, many commits

  @Test func equalQuestionsOfSeveralStoresShareOneUpkeep() throws {
    let configuration = makeConfiguration()
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write { for age in 0..<50 { try store.add(Dog(name: "\(age)", age: age)) } }
    var calls = 0
    var tokens: [NotificationToken] = []
    for store in [store, other, store, other] {
      let dogs = store.objects(Dog.self).where { $0.age > 10 }.sorted(by: \.name)
      tokens.append(dogs.observe { if case .update = $0 { calls += 1 } })
    }
    for store in [store, other] { store.refresh() }
    let before = store.notifierWork
    #expect(before.results == 1 && before.places == 2)
    try store.write { store.objects(Dog.self).where { $0.age == 30 }.first?.name = "x" }
    for store in [store, other] { store.refresh() }
    let after = store.notifierWork
    #expect(calls == 4 && after.rowsTested == before.rowsTested + 1 && after.evaluations == before.evaluations)
    for token in tokens { token.stop() }
  }

  /// However many commits a context misses, what waits for it is the net change of the rows.
  @Test func whatACommitsObserverMissesIsBoundedByTheRows() throws {
    let configuration = makeConfiguration()
    let (store, writer) = (try Store(configuration), try Store(configuration))
    let dogs = (0..<10).map { Dog(name: "\($0)", age: $0) }
    let person = Person(name: "Ann")
    try writer.write {
      try writer.add(dogs)
      try writer.add(person)
    }
    store.refresh()
    let (all, list) = (Heard(), Heard())
    var (commits, changes) = (0, 0)
    let same = try #require(store.resolve(person.reference))
    let tokens = [
      store.objects(Dog.self).sorted(by: \.age).observe { change in
        all.hear(change)
        commits = change.details?.commits ?? 0
      },
      same.dogs.observe { list.hear($0) },
      same.observe(keyPaths: [\.age]) { _ in changes += 1 },
    ]
    store.refresh()
    let rounds = environmentNumber("VIVARIUM_UNDELIVERED", default: 3_000)
    var resident: [Int] = []
    for i in 0..<rounds {
      if i == rounds / 4 { resident.append(residentBytes()) }
      try writer.write {
        dogs[i % 10].age = i
        person.age = i + 1
        if i % 2 == 0 { person.dogs.append(dogs[i % 10]) } else { person.dogs.removeAll() }
        if i % 3 == 0 { try writer.add(Dog(name: "new", age: -1)) } else { try writer.delete(writer.objects(Dog.self).where { $0.age < 0 }) }
      }
    }
    resident.append(residentBytes())
    // Other tests run beside this one, but not where a million is asked for.
    if rounds >= 100_000 { #expect(resident[1] - resident[0] < 48 << 20, "\(resident)") }
    store.refresh()
    #expect(all.calls.count == 2 && list.calls.count <= 2 && changes == 1 && commits == rounds)
    #expect(store.objects(Dog.self).count == writer.objects(Dog.self).count)
    for token in tokens { token.stop() }
  }

  /// What the process has in memory, where the system says it.
  private func residentBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
  }

  // MARK: Ways back

  @Test func aWayBackMayLeadThroughSetsAndMaps() throws {
    var configuration = StoreConfiguration.reference(nil, models: [Guild.self])
    configuration.manualDelivery = true
    let store = try Store(configuration)
    let (a, b) = (Guild(name: "a"), Guild(name: "b"))
    try store.write {
      try store.add([a, b])
      a.allies.insert(b)
      a.posts["east"] = b
    }
    var calls: [String] = []
    func hear(_ name: String, _ change: Vivarium.CollectionChange<Results<Guild>>) {
      switch change {
      case .initial: break
      case .update(let guilds, _, _, let changed): calls.append("\(name) \(guilds.count) ~\(changed.count)")
      case .error(let error): calls.append("\(name) \(error)")
      }
    }
    let guilds = store.objects(Guild.self)
    let tokens = [
      guilds.filter("alliedBy.@count > 0").observe { hear("allied", $0) },
      guilds.filter("postedBy.@count > 0").observe { hear("posted", $0) },
      try b.observe(observingProperties: ["name", "alliedBy.rank", "postedBy.rank"]) { change in
        if case .error(let error) = change { calls.append("b \(error)") }
      },
      guilds.observe { hear("all", $0) },
    ]
    store.refresh()
    try store.write {
      a.rank = 5
      b.allies.insert(a)
    }
    store.refresh()
    #expect(calls == ["allied 2 ~1", "posted 1 ~1", "all 2 ~2"], "\(calls)")
    for token in tokens { token.stop() }
  }
}

private final class Flag: Sendable {
  let isRaised = Atomic(false)
}

/// Cannot be committed while the disk is full.
private final class FullWrite: ForwardingWrite {
  let base: any WriteTransaction
  let isFull: Flag
  init(base: any WriteTransaction, isFull: Flag) { (self.base, self.isFull) = (base, isFull) }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    if isFull.isRaised.load(ordering: .acquiring) {
      throw StorageError(.outOfDiskSpace, .transaction, "The disk is full.")
    }
    return try base.commit(record, durability)
  }
}
