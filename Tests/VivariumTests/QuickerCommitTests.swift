import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Somebody else commits right after a store's commit that skips observers, before the store reads what it has committed.
@Suite struct QuickerCommitTests {
  private let gap = Gap()
  private let store: Store

  init() throws {
    var configuration = makeConfiguration()
    let gap = gap
    configuration.backend = ForwardingBackend(configuration.backend) { EngineWithGap(base: $0, gap: gap) }
    store = try Store(configuration)
    try store.write { for i in 0..<4 { try store.add(Dog(name: "\(i)", age: i)) } }
  }

  /// As a table that shows some results would be kept.
  private final class Table {
    var rows: [String] = []

    func hear<C: Collection<Dog>>(_ change: CollectionChange<C>) where C.Index == Int {
      switch change {
      case .initial(let dogs): rows = dogs.map(\.name)
      case .update(let dogs, let deletions, let insertions, let modifications):
        for row in deletions.reversed() { rows.remove(at: row) }
        for row in insertions { rows.insert(dogs[row].name, at: row) }
        for row in modifications.new { rows[row] = dogs[row].name }
      case .error(let error): Issue.record(error)
      }
    }
  }

  /// `place`: before which of the reads that begin when the commit is done.
  @Test(arguments: 1...3) func theTableShowsWhatThereIs(place: Int) throws {
    let table = Table()
    let token = store.objects(Dog.self).sorted(by: \.age).observe { table.hear($0) }
    store.refresh()
    try store.write(withoutNotifying: [token]) {
      try store.add(Dog(name: "mine", age: 10))
      table.rows.append("mine")
      gap.open(place) { write, dogs in
        try write.delete(dogs.id, ObjectKey(4))
        var change = TableChange(table: dogs.id)
        change.deleted = KeyRuns([4])
        return change
      }
    }
    gap.close()
    store.refresh()
    #expect(table.rows == store.objects(Dog.self).sorted(by: \.age).map(\.name))
    try store.write { try store.add(Dog(name: "last", age: 11)) }
    store.refresh()
    #expect(table.rows == store.objects(Dog.self).sorted(by: \.age).map(\.name) && table.rows.last == "last")
    token.stop()
  }

  /// The other one inserts into the same list, which then has another length than the skipped commit left.
  @Test(arguments: 1...3) func aListShowsWhatThereIs(place: Int) throws {
    let person = Person(name: "owner")
    try store.write {
      try store.add(person)
      for dog in store.objects(Dog.self).sorted(by: \.age) { person.dogs.append(dog) }
    }
    let table = Table()
    let token = person.dogs.observe { table.hear($0) }
    store.refresh()
    try store.write(withoutNotifying: [token]) {
      person.dogs.append(Dog(name: "mine", age: 10))
      table.rows.append("mine")
      gap.open(place) { write, dogs in
        let people = try #require(write.catalog["Person"])
        let list = people.column(named: "dogs")
        try write.edit(list, ObjectKey(1), .insert(at: 0, [.link(ObjectKey(4))]))
        var change = TableChange(table: people.id)
        change.modified = [ModifiedObject(key: ObjectKey(1), properties: PropertySet([list.property]))]
        change.lists = [ListChange(owner: ObjectKey(1), property: list.property, edits: [.insert(at: 0, count: 1)])]
        return change
      }
    }
    let wasUsed = gap.close()
    store.refresh()
    #expect(table.rows == person.dogs.map(\.name) && (table.rows.first == "3") == wasUsed)
    try store.write { person.dogs.append(Dog(name: "last", age: 11)) }
    store.refresh()
    #expect(table.rows == person.dogs.map(\.name) && table.rows.last == "last")
    token.stop()
  }

  @Test(arguments: 1...3) func anObjectsObserverHearsOfTheOther(place: Int) throws {
    let dog = try #require(store.objects(Dog.self).first)
    let heard = HeardObject { $0.name }
    let token = dog.observe { heard.hear($0) }
    store.refresh()
    try store.write(withoutNotifying: [token]) {
      dog.age = 77
      gap.open(place) { write, dogs in
        let name = dogs.column(named: "name")
        try write.set(name, ObjectKey(1), .string("theirs"))
        var change = TableChange(table: dogs.id)
        change.modified = [ModifiedObject(key: ObjectKey(1), properties: PropertySet([name.property]))]
        return change
      }
    }
    let wasUsed = gap.close()
    store.refresh()
    #expect(heard.take() == (wasUsed ? ["name"] : []))
    #expect(dog.age == 77 && dog.name == (wasUsed ? "theirs" : "0"))
    token.stop()
  }
}

/// The disk fails to confirm a commit that everybody sees already.
@Suite struct UnsyncedCommitTests {
  @Test func whatIsVisibleIsToldAndItsHooksRun() throws {
    let fails = Gap()
    var configuration = makeConfiguration()
    configuration.backend = ForwardingBackend(configuration.backend) { engine in
      ForwardingEngine(engine, write: { UnsyncedWrite(base: $0, gap: fails) })
    }
    let store = try Store(configuration)
    let heard = Heard()
    let token = store.objects(Dog.self).observe { heard.hear($0) }
    store.refresh()
    for skips in [false, true] {
      var ran: [String] = []
      _ = heard.take()
      fails.open(1) { _, dogs in TableChange(table: dogs.id) }
      let error = #expect(throws: StoreError.self) {
        try store.write(withoutNotifying: skips ? [token] : []) {
          try store.add(Dog(name: "seen", age: 1))
          try store.afterCommit { _ in ran.append("after the commit") }
          try store.afterRollback { ran.append("after undoing") }
        }
      }
      #expect(error?.code == .unsynced && ran == ["after the commit"])
      fails.close()
      store.refresh()
      let count = skips ? 2 : 1
      #expect(store.objects(Dog.self).count == count)
      #expect(heard.take() == (skips ? [] : [Heard.update([], [count - 1])]))
    }
    try store.write { try store.add(Dog(name: "more", age: 2)) }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [2])])
    token.stop()
  }
}

/// When somebody else does something, and what.
private final class Gap: Sendable {
  typealias Act = @Sendable (any WriteTransaction, TableEntry) throws -> TableChange
  private let state = Mutex((left: 0, act: Act?.none))

  func open(_ place: Int, _ act: @escaping Act) { state.withLock { $0 = (place, act) } }

  var isOpen: Bool { state.withLock { $0.act != nil } }

  /// Whether it was used.
  @discardableResult func close() -> Bool {
    state.withLock { state in
      defer { state = (0, nil) }
      return state.act == nil
    }
  }

  /// What is to be done now: at the last of the places, once.
  func take() -> Act? {
    state.withLock { state in
      guard state.act != nil else { return nil }
      state.left -= 1
      if state.left > 0 { return nil }
      defer { state.act = nil }
      return state.act
    }
  }
}

/// Before a read begins, somebody else writes, if nobody is writing.
private final class EngineWithGap: EngineInFront {
  let base: any StorageEngine
  private let gap: Gap

  init(base: any StorageEngine, gap: Gap) { (self.base, self.gap) = (base, gap) }

  func beginRead() throws(StorageError) -> any ReadTransaction {
    if gap.isOpen, let write = try? base.beginWrite(.after(.zero)) {
      if let act = gap.take(), let dogs = write.catalog["Dog"] {
        do {
          var record = CommitRecord(author: "somebody else", origin: 99)
          record.tables = [try act(write, dogs)]
          _ = try write.commit(record, .relaxed)
        } catch { Issue.record(error) }
      }
      write.end()
    }
    return try base.beginRead()
  }
}

private final class UnsyncedWrite: ForwardingWrite {
  let base: any WriteTransaction
  private let gap: Gap

  init(base: any WriteTransaction, gap: Gap) { (self.base, self.gap) = (base, gap) }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    let version = try base.commit(record, durability)
    if gap.take() == nil { return version }
    throw StorageError(.unsynced, .engine, "The disk did not confirm it.")
  }
}
