import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What is observed cannot be read any more: all whom that concerns are told so, once and last, and nobody else.
@Suite struct ObserverFaultTests {
  let configuration = makeConfiguration()

  /// What of a file cannot be had.
  enum Part: Sendable {
    case history, rows, opening
  }

  /// The same file, seen through a disk that can break.
  private func seen(through disk: BrittleDisk) -> Store.Configuration {
    var brittle = configuration
    brittle.backend = ForwardingBackend(configuration.backend) { BrittleEngine($0, disk) }
    return brittle
  }

  @Test(arguments: [Part.history, .opening]) func whatCannotBeKeptIsToldToAllWhoObserve(part: Part) throws {
    let disk = BrittleDisk()
    let (store, other) = (try Store(seen(through: disk)), try Store(configuration))
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      person.dogs.append(Dog(name: "Rex", age: 3))
    }
    let (results, list, object) = (Heard(), Heard(), HeardObject())
    var counts: [String] = []
    let tokens = [
      store.objects(Dog.self).where { $0.age > 2 }.observe { results.hear($0) },
      person.dogs.observe { list.hear($0) },
      person.dogs[0].observe { object.hear($0) },
      store.objects(Dog.self).observe(.count) { if case .error(let error) = $0 { counts.append(error.code.rawValue) } },
    ]
    store.refresh()
    #expect(results.take() == [.initial(1)] && list.take() == [.initial(1)] && object.take() == [])
    disk.lose(part)
    other.refresh()
    try other.write {
      other.objects(Dog.self)[0].age = 4
      try other.add(Dog(name: "Max", age: 9))
    }
    store.refresh()
    #expect(results.take() == [.error(.io)] && list.take() == [.error(.io)])
    #expect(object.take() == ["error io"] && counts == ["io"])
    // Nothing comes after it, and whoever comes then begins anew.
    disk.lose(nil)
    try other.write { try other.add(Dog(name: "Tim", age: 9)) }
    store.refresh()
    #expect(results.take() == [] && list.take() == [] && object.take() == [] && counts == ["io"])
    #expect(store.notifierWork.results == 0 && store.notifierWork.watches == 0)
    let again = store.objects(Dog.self).where { $0.age > 2 }.observe { results.hear($0) }
    store.refresh()
    try other.write { try other.add(Dog(name: "Bea", age: 5)) }
    store.refresh()
    #expect(results.take() == [.initial(3), Heard.update([], [3])])
    for token in tokens + [again] { token.stop() }
  }

  @Test func whatDoesNotReadTheLostRowsGoesOn() throws {
    let disk = BrittleDisk()
    let (store, other) = (try Store(seen(through: disk)), try Store(configuration))
    try store.write { try store.add(Dog(name: "Rex", age: 3)) }
    let (sorted, all) = (Heard(), Heard())
    let tokens = [
      store.objects(Dog.self).where { $0.age > 2 }.sorted(by: \.age).observe { sorted.hear($0) },
      store.objects(Dog.self).observe { all.hear($0) },
    ]
    store.refresh()
    #expect(sorted.take() == [.initial(1)] && all.take() == [.initial(1)])
    disk.lose(.rows)
    try other.write { try other.add(Dog(name: "Max", age: 9)) }
    store.refresh()
    #expect(sorted.take() == [.error(.io)] && all.take() == [Heard.update([], [1])])
    disk.lose(nil)
    try other.write { try other.add(Dog(name: "Tim", age: 5)) }
    store.refresh()
    #expect(sorted.take() == [] && all.take() == [Heard.update([], [2])])
    #expect(store.notifierWork.results == 1)
    for token in tokens { token.stop() }
  }

  @Test func aFirstResultThatCannotBeReadIsToldInItsPlace() throws {
    let disk = BrittleDisk()
    let (store, other) = (try Store(seen(through: disk)), try Store(configuration))
    try store.write { try store.add(Dog(name: "Rex", age: 3)) }
    let heard = Heard()
    disk.lose(.rows)
    let token = store.objects(Dog.self).where { $0.age > 2 }.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == [.error(.io)])
    disk.lose(nil)
    try other.write { try other.add(Dog(name: "Max", age: 9)) }
    store.refresh()
    #expect(heard.take() == [] && store.notifierWork.results == 0)
    token.stop()
  }

  /// The store reads its own commit at once, and the notifier never gets there.
  @Test func aStoreThatMovedOnByItselfIsToldInATurn() throws {
    let disk = BrittleDisk()
    let desk = try Desk(seen(through: disk))
    var codes: [StoreError.Code] = []
    try desk.use { store in
      let dog = Dog(name: "Rex", age: 1)
      try store.write { try store.add(dog) }
      desk.tokens.append(
        dog.observe { change in
          if case .error(let error) = change { codes.append(error.code) }
          desk.heard.fire()
        })
    }
    try desk.settle()
    disk.lose(.history)
    // More than the notifier is handed over, which else reads nothing of its own process's commits.
    try desk.use { store in
      try store.write {
        store.objects(Dog.self)[0].age = 2
        for _ in 0..<66_000 { try store.add(Dog()) }
      }
    }
    #expect(desk.heard.wait())
    try desk.use { store in
      #expect(codes == [.io] && store.objects(Dog.self)[0].age == 2)
      desk.tokens[0].stop()
    }
  }

  /// With the policy that stops a debug build at a mistake, as everybody has it at first.
  @Test func whatIsNobodysMistakeStopsNoDebugBuild() throws {
    let disk = BrittleDisk()
    var trapping = seen(through: disk)
    trapping.misuse = .trapInDebug
    let store = try Store(trapping)
    let (dog, first, second) = (Dog(name: "Rex", age: 3), Message(number: 1, shout: "a"), Message(number: 2, shout: "b"))
    try store.write {
      try store.add(dog)
      try store.add([first, second])
    }
    disk.lose(.rows)
    #expect(store.objects(Dog.self).where { $0.age > 2 }.toArray().isEmpty && dog.age == 0)
    disk.lose(nil)
    #expect(dog.age == 3)
    let refused = #expect(throws: StoreError.self) { try store.write { second.code = "A" } }
    #expect(refused?.code == .uniqueViolation && second.code == "B")
    let error = #expect(throws: StoreError.self) { try store.write { try second.setValue("A", forKey: "code") } }
    #expect(error?.code == .uniqueViolation && second.code == "B")
  }
}

/// Loses a part of a file, and finds it again.
private final class BrittleDisk: Sendable {
  private let lost = Mutex<ObserverFaultTests.Part?>(nil)

  func lose(_ part: ObserverFaultTests.Part?) { lost.withLock { $0 = part } }

  func pass(_ part: ObserverFaultTests.Part) throws(StorageError) {
    if lost.withLock({ $0 == part }) { throw StorageError(.io, .statement, "The disk is broken.") }
  }
}

private final class BrittleEngine: EngineInFront {
  let base: any StorageEngine
  private let disk: BrittleDisk

  init(_ base: any StorageEngine, _ disk: BrittleDisk) {
    self.base = base
    self.disk = disk
  }

  func beginRead() throws(StorageError) -> any ReadTransaction {
    try disk.pass(.opening)
    return BrittleRead(base: try base.beginRead(), disk: disk)
  }
}

private final class BrittleRead: ForwardingRead, WindowedReading, GatheringReading {
  let base: any ReadTransaction
  let disk: BrittleDisk
  init(base: any ReadTransaction, disk: BrittleDisk) { (self.base, self.disk) = (base, disk) }

  /// What the base has of them goes through the disk too.
  var powers: StoragePowers {
    let powers = base.powers
    return StoragePowers(windows: powers.windows == nil ? nil : self, gathering: powers.gathering == nil ? nil : self)
  }

  func window(_ column: ColumnID, containing key: ObjectKey) throws(StorageError) -> ColumnWindow? {
    try disk.pass(.rows)
    return try base.powers.windows?.window(column, containing: key)
  }
  func words(
    _ column: ColumnID, of keys: UnsafeBufferPointer<Int64>, into words: UnsafeMutablePointer<Int64>, nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError) {
    try disk.pass(.rows)
    try base.powers.gathering?.words(column, of: keys, into: words, nulls: nulls)
  }
  func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    try disk.pass(.rows)
    return try base.key(in: index, equal: values)
  }
  func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    try disk.pass(.rows)
    return try base.key(in: index, equalTo: integer)
  }
  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    try disk.pass(.history)
    try base.history(after: version, body)
  }
  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    try disk.pass(.rows)
    return try base.word(column, key)
  }
  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try disk.pass(.rows)
    try base.scan(table, columns, from: start, hints: hints, body)
  }
  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try disk.pass(.rows)
    try base.keys(in: index, range, descending: descending, body)
  }
}
