import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct SnapshotTests {
  private func jane(in store: Store) throws -> Person {
    let rex = Dog(name: "Rex", age: 3)
    let person = Person(name: "Jane", age: 30, nick: "J", best: rex)
    person.dogs = [rex, Dog(name: "Fido")]
    person.scores = [1.5, -0.0, .nan]
    try store.write { try store.add(person) }
    return person
  }

  @Test func aSnapshotIsACopyThatTravels() async throws {
    let store = try makeStore()
    let person = try jane(in: store)
    let snapshot = person.snapshot()
    try store.write { person.age = 31; person.dogs.removeAll() }
    let seen = await Task.detached {
      (snapshot.name, snapshot.age, snapshot.nick, snapshot.dogs.count, snapshot.best, snapshot.scores, snapshot.isAdult)
    }.value
    #expect(seen.0 == "Jane" && seen.1 == 30 && seen.2 == "J" && seen.3 == 2 && seen.6)
    #expect(seen.5.map(\.bitPattern) == [1.5, -0.0, Double.nan].map(\.bitPattern))
    #expect(seen.4.flatMap { store.resolve($0) } == person.best)
    #expect(snapshot["age"] == .int(30) && snapshot["dogs"] == nil && snapshot["none"] == nil)
    #expect(snapshot.reference.resolve(in: store) == person)
    #expect(snapshot != person.snapshot() && person.snapshot() == person.snapshot())
  }

  @Test func aSnapshotPinsNothing() throws {
    final class Watch { weak var store: Store? }
    let watch = Watch()
    func copy() throws -> ObjectSnapshot<Person> {
      let store = try makeStore()
      watch.store = store
      return try jane(in: store).snapshot()
    }
    let snapshot = try copy()
    #expect(watch.store == nil && snapshot.name == "Jane")
  }

  @Test func unmanagedAndDeletedObjectsHaveSnapshotsToo() throws {
    let store = try makeStore()
    let unmanaged = Person(name: "Loose", age: 3)
    unmanaged.scores = [2]
    #expect(unmanaged.snapshot().name == "Loose" && unmanaged.snapshot().scores == [2] && unmanaged.snapshot().id.key.rawValue == 0)
    let copy = unmanaged.snapshot().unmanagedCopy()
    #expect(copy !== unmanaged && copy.name == "Loose" && copy.id == unmanaged.id && copy.scores.toArray() == [2])
    let person = try jane(in: store)
    try store.write { try store.delete(person) }
    #expect(person.snapshot().name == "" && person.snapshot().dogs.isEmpty)
  }

  @Test func aFrozenObjectStaysAsItWasOnAnyThread() async throws {
    let store = try makeStore()
    let person = try jane(in: store)
    let frozen = try person.freeze()
    try store.write {
      person.name = "Joan"
      person.best?.name = "Max"
      person.dogs.removeAll()
    }
    let seen = await Task.detached {
      (
        frozen.name, frozen.best?.name, frozen.dogs.map(\.name), frozen.dogs.first?.owners.map(\.name),
        frozen.best?.bestOf?.name, frozen.scores.count, frozen.isAdult
      )
    }.value
    #expect(seen.0 == "Jane" && seen.1 == "Rex" && seen.2 == ["Rex", "Fido"] && seen.3 == ["Jane"])
    #expect(seen.4 == "Jane" && seen.5 == 3 && seen.6)
    #expect(person.name == "Joan" && frozen.version < store.version)
    #expect(frozen.thaw(in: store) == person)
    try store.write { try store.delete(person) }
    #expect(frozen.thaw(in: store) == nil && frozen.name == "Jane")
    #expect(try frozen.value(named: "age") == .int(30))
  }

  @Test func whatIsFrozenOutlivesItsStore() throws {
    func freeze() throws -> Frozen<Person> {
      let store = try makeStore()
      return try jane(in: store).freeze()
    }
    #expect(try freeze().dogs.map(\.name) == ["Rex", "Fido"])
  }

  /// A transaction allows one thread at a time, and so neither the store's nor another task's may be in it meanwhile.
  @Test(arguments: [false, true]) func aFrozenObjectIsReadByManyThreadsAtOnce(isOld: Bool) throws {
    let watch = OverlapWatch()
    let name = UUID().uuidString
    var configuration = makeConfiguration(name)
    configuration.backend = ForwardingBackend(configuration.backend) { engine in
      ForwardingEngine(engine, read: { WatchedRead(base: $0, watch: watch) })
    }
    let store = try Store(configuration)
    let person = try jane(in: store)
    // A version that is not the newest cannot be opened again.
    if isOld {
      let other = try Store(makeConfiguration(name))
      try other.write { other.objects(Person.self).first?.name = "Joan" }
    }
    let frozen = try person.freeze()
    #expect(frozen.version == store.version)
    let done = Signal()
    for _ in 0..<4 {
      Thread {
        for _ in 0..<500 where frozen.name != "Jane" || frozen.dogs.count != 2 { watch.fault("wrong values") }
        done.fire()
      }.start()
    }
    for _ in 0..<1_000 where person.name != "Jane" || person.dogs.count != 2 { watch.fault("wrong values") }
    for _ in 0..<4 { #expect(done.wait()) }
    #expect(watch.faults == [])
    store.refresh()
    #expect(person.name == (isOld ? "Joan" : "Jane") && frozen.name == "Jane")
  }

  @Test func freezingSaysWhyItCannotBe() throws {
    let store = try makeStore()
    func code(_ person: Person) -> StoreError.Code? {
      do throws(StoreError) {
        _ = try person.freeze()
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(Person()) == .notManaged)
    let person = try jane(in: store)
    try store.write { #expect(code(person) == .alreadyInWrite) }
    try store.write { try store.delete(person) }
    #expect(code(person) == .objectDeleted)
  }

  @Test func readingOfWhatIsGoneNeverStopsTheProcess() throws {
    var configuration = makeConfiguration()
    configuration.misuse = .trapInDebug
    let store = try Store(configuration)
    let people = (0..<100).map { Person(name: "P\($0)", age: $0) }
    try store.write { try store.add(people) }
    try store.write { try store.delete(store.objects(Person.self)) }
    for person in people {
      #expect(person.isInvalidated && person.name == "" && person.best == nil && person.dogs.isEmpty && person["age"] == .null)
    }
  }

  @Test func anIdentifierNamesTypeAndKey() throws {
    let store = try makeStore()
    let message = Message(number: 7, shout: "a")
    #expect(message.objectIdentifier == "Message-7")
    try store.write { try store.add(message) }
    #expect(message.objectIdentifier == "Message-7")
    let dog = Dog()
    try store.write { try store.add(dog) }
    #expect(dog.objectIdentifier == "Dog-1")
  }

  @Test func identityAndHashStayThroughRefreshAndChange() throws {
    let configuration = makeConfiguration("identity")
    let (store, other) = (try Store(configuration), try Store(configuration))
    let person = try jane(in: store)
    let hash = person.hashValue
    other.refresh()
    let there = try #require(other.objects(Person.self).first)
    try other.write { there.age = 99 }
    store.refresh()
    #expect(person.age == 99 && person.hashValue == hash && person == there && person.isSameObject(as: there))
    #expect(Set([person, there]).count == 1 && Set([person]).contains(store.objects(Person.self)[0]))
    #expect(person != store.objects(Person.self).first?.unmanagedTwin)
  }
}

extension Person {
  fileprivate var unmanagedTwin: Person { snapshot().unmanagedCopy() }
}

/// Whether any transaction was read by two threads at once.
private final class OverlapWatch: Sendable {
  private let found = Mutex<Set<String>>([])
  var faults: Set<String> { found.withLock { $0 } }
  func fault(_ what: String) { found.withLock { _ = $0.insert(what) } }
}

private final class WatchedRead: ForwardingRead {
  let base: any ReadTransaction
  private let watch: OverlapWatch
  private let isInside = Atomic(false)
  init(base: any ReadTransaction, watch: OverlapWatch) { (self.base, self.watch) = (base, watch) }

  /// None: every read has to be seen.
  var powers: StoragePowers { StoragePowers() }

  private func enter() {
    if isInside.exchange(true, ordering: .acquiringAndReleasing) { watch.fault("two threads at once") }
  }
  private func leave() { isInside.store(false, ordering: .releasing) }

  func bytes(
    _ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    enter()
    defer { leave() }
    try base.bytes(column, key, body)
  }

  func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    enter()
    defer { leave() }
    return try base.elementCount(column, owner)
  }
}
