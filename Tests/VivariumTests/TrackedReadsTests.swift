import Foundation
import Observation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What `withObservationTracking` sees of a store.
@Suite struct TrackedReadsTests {
  private final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }

  private func track(_ read: () -> Void) -> Counter {
    let changes = Counter()
    withObservationTracking(read, onChange: { changes.add() })
    return changes
  }

  /// A store that is tracked, and another one of the file.
  private func stores() throws -> (Store, Store) {
    let configuration = makeConfiguration()
    let (store, other) = (try Store(configuration), try Store(configuration))
    store.tracksReads = true
    return (store, other)
  }

  @Test func anObjectThatWasLookedForInVainAppears() throws {
    let (store, other) = try stores()
    let id = UUID()
    func looks() -> [Counter] {
      [
        track { #expect(store.object(Person.self, forPrimaryKey: id) == nil) },
        track { #expect(store.object(Message.self, forPrimaryKey: 7) == nil) },
        track { #expect(store.objects(Message.self, forPrimaryKeys: [7, 8]).isEmpty) },
      ]
    }
    var tracked = looks()
    try store.write { try store.add(Dog(name: "Rex")) }
    #expect(tracked.map(\.count) == [0, 0, 0])
    try store.write { try store.add(Person(id: UUID(), name: "Ann")) }
    #expect(tracked.map(\.count) == [1, 0, 0])
    // Made elsewhere: seen with the refresh.
    tracked = looks()
    try other.write { try other.add(Message(number: 7, shout: "hey")) }
    #expect(tracked.map(\.count) == [0, 0, 0])
    store.refresh()
    #expect(tracked.map(\.count) == [0, 1, 1] && store.object(Message.self, forPrimaryKey: 7)?.code == "HEY")
  }

  @Test func anObjectThatIsThereGoesAndComesBack() throws {
    let (store, other) = try stores()
    let dog = Dog(name: "Rex")
    try store.write { try store.add(dog) }
    let reference = dog.reference
    func looks() -> [Counter] { [track { _ = dog.isInvalidated }, track { _ = store.resolve(reference) }] }
    var tracked = looks()
    try store.write { dog.name = "Max" }
    #expect(tracked.map(\.count) == [0, 0])
    try store.beginWrite()
    try store.delete(dog)
    #expect(tracked.map(\.count) == [1, 1])
    tracked = looks()
    store.cancelWrite()
    #expect(tracked.map(\.count) == [1, 1] && !dog.isInvalidated)
    tracked = looks()
    other.refresh()
    try other.write { try other.delete(other.objects(Dog.self)) }
    store.refresh()
    #expect(tracked.map(\.count) == [1, 1] && dog.isInvalidated)
  }

  @Test func positionsColumnsAndNamesAreTracked() throws {
    let (store, _) = try stores()
    let dogs = (0..<3).map { Dog(name: "D\($0)", age: $0) }
    try store.write { for dog in dogs { try store.add(dog) } }
    let sorted = store.objects(Dog.self).sorted(by: \.age)
    let tracked = [
      track { _ = sorted.index(of: dogs[1]) }, track { _ = sorted.index(matching: { $0.age == 2 }) },
      track { _ = try? sorted.values(\.name) }, track { _ = sorted.objects(at: [0]) }, track { _ = sorted.last },
      track { _ = dogs[1]["age"] }, track { _ = store.object(Message.self, forPrimaryKey: 1) },
    ]
    try store.write { dogs[1].age = 9 }
    #expect(tracked.map(\.count) == [1, 1, 1, 1, 1, 1, 0])
  }

  @Test func whatLinksLeadToIsTrackedWithColumns() throws {
    let (store, _) = try stores()
    let person = Person(name: "Ann", best: Dog(name: "Rex"))
    try store.write { try store.add(person) }
    let names = track { _ = try? store.objects(Person.self).values(\.best, \.name) }
    try store.write { person.best?.name = "Max" }
    #expect(names.count == 1)
  }

  @Test func anUpdateByPrimaryKeyWakesWhoReadTheOldOne() throws {
    let (store, _) = try stores()
    let person = Person(name: "Ann", age: 3)
    try store.write { try store.add(person) }
    func reads() -> [Counter] {
      [track { _ = person.name }, track { _ = person.age }, track { _ = person.dogs }, track { _ = store.objects(Person.self).first }]
    }
    var tracked = reads()
    try store.write { try store.add(Person(id: person.id, name: "Bea", age: 3), update: .modified) }
    #expect(tracked.map(\.count) == [1, 0, 0, 1])
    tracked = reads()
    let other = Person(id: person.id, name: "Bea", age: 3)
    other.dogs = [Dog(name: "Rex")]
    try store.write { try store.add(other, update: .modified) }
    #expect(tracked.map(\.count) == [0, 0, 1, 1] && person.dogs.count == 1)
  }

  @Test func whatAnIndexCountsIsTrackedWithoutBeingBound() throws {
    let (store, _) = try stores()
    try store.write { for number in 0..<3 { try store.add(Message(number: number, shout: "\(number)")) } }
    let bound = store.boundCount
    var count = 0
    let counted = track { count = store.objects(Message.self).where { $0.number == 1 }.count }
    #expect(count == 1 && store.boundCount == bound)
    try store.write { try store.add(Dog(name: "Rex")) }
    #expect(counted.count == 0)
    try store.write { try store.add(Message(number: 7, shout: "ho")) }
    #expect(counted.count == 1)
  }

  @Test func anOrderThroughLinksIsWokenByThem() throws {
    let (store, _) = try stores()
    let dogs = [Dog(name: "Rex"), Dog(name: "Max")]
    let people = dogs.map { Person(name: "", age: 3, best: $0) }
    try store.write { for person in people { try store.add(person) } }
    var first: Person?
    let read = track { first = store.objects(Person.self).where { $0.age == 3 }.sorted(byKeyPath: "best.name")[0] }
    #expect(first?.id == people[1].id)
    try store.write { dogs[0].name = "Ada" }
    #expect(read.count == 1)
  }

  @Test func rowsOfOneTypeAreNotWokenByOthers() throws {
    let (store, _) = try stores()
    try store.write { for name in ["Rex", "Max", "Ada"] { try store.add(Dog(name: name)) } }
    let dogs = store.objects(Dog.self).where { $0.name != "Max" }.sorted(by: \.name)
    func reads() -> [Counter] { [track { _ = dogs[0] }, track { _ = dogs.count }, track { _ = dogs.first?.name }] }
    var tracked = reads()
    try store.write { try store.add(Person(name: "Ann", age: 3)) }
    #expect(tracked.map(\.count) == [0, 0, 0])
    try store.write { dogs[1].name = "Bob" }
    #expect(tracked.map(\.count) == [1, 1, 1])
    tracked = reads()
    try store.write { try store.add(Dog(name: "Aki")) }
    #expect(tracked.map(\.count) == [1, 1, 1])
  }

  @Test func eachPropertyIsTrackedByItself() throws {
    let (store, _) = try stores()
    // More than the 64 that share a cell.
    let people = (0..<130).map { Person(name: "\($0)", age: $0) }
    try store.write { for person in people { try store.add(person) } }
    func reads() -> [Counter] { people.flatMap { person in [track { _ = person.name }, track { _ = person.age }] } }
    let tracked = reads()
    try store.write { people[3].age = 1_000 }
    let woken = tracked.indices.filter { tracked[$0].count > 0 }
    // Its own reader, and that of the object whose key is 64 more.
    #expect(woken == [7, 135])
    #expect(tracked.allSatisfy { $0.count <= 1 })
  }
}
