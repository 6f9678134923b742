import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What happens while the first results of an observer are still being found.
@Suite struct FirstResultTests {
  /// Five dogs, through a gate. All stores of the configuration share one engine, and so one notifier.
  private func makeStore(_ gate: Gate) throws -> Store {
    var configuration = makeConfiguration()
    let shared = SharedWrapper()
    configuration.backend = ForwardingBackend(configuration.backend) { engine in
      shared.wrapper { ForwardingEngine(engine, read: { GatedRead(base: $0, gate: gate) }) }
    }
    let store = try Store(configuration)
    try store.write { for i in 0..<5 { try store.add(Dog(name: "\(i)", age: i)) } }
    return store
  }

  @Test func aTokenStoppedBeforeItsFirstResultLeavesNone() throws {
    let gate = Gate()
    let store = try makeStore(gate)
    gate.isClosed.store(true, ordering: .releasing)
    let token = store.objects(Dog.self).where { $0.age > 2 }.observe { _ in }
    #expect(gate.reached.wait())
    token.stop()
    gate.isClosed.store(false, ordering: .releasing)
    gate.opened.fire()
    #expect(store.notifierWork.results == 0 && store.notifierWork.places == 0)
  }

  /// Its own observers' first results come in time or after it; for those of another thread it never waits.
  @Test func aWriteDoesNotWaitForTheFirstResultsOfAnotherThread() throws {
    let gate = Gate()
    let store = try makeStore(gate)
    var counts: [Int] = []
    let token = store.objects(Dog.self).observe { counts.append($0.collection?.count ?? -1) }
    store.refresh()
    let desk = try Desk(store.configuration)
    var ages: [Int]?
    gate.isClosed.store(true, ordering: .releasing)
    try desk.use { store in
      desk.tokens.append(
        store.objects(Dog.self).where { $0.age > 2 }.observe { change in
          if case .initial(let dogs) = change { ages = dogs.map(\.age) }
          desk.heard.fire()
        })
    }
    #expect(gate.reached.wait())
    // The other one's question is being asked all the while.
    for i in 5..<8 {
      try store.beginWrite()
      try store.add(Dog(name: "\(i)", age: i))
      try store.commitWrite(withoutNotifying: i == 6 ? [token] : [])
    }
    store.refresh()
    #expect(counts == [5, 6, 8] && desk.heard.count == 0)
    gate.isClosed.store(false, ordering: .releasing)
    gate.opened.fire()
    #expect(desk.heard.wait())
    try desk.use { _ in
      // What was committed meanwhile is in it.
      #expect(ages == [3, 4, 5, 6, 7])
      desk.tokens[0].stop()
    }
    token.stop()
  }
}

/// The wrapper of an engine, made once.
private final class SharedWrapper: Sendable {
  private let made = Mutex<ForwardingEngine?>(nil)

  func wrapper(_ make: () -> ForwardingEngine) -> ForwardingEngine {
    made.withLock { made in
      let wrapper = made ?? make()
      made = wrapper
      return wrapper
    }
  }
}

/// Lets nobody scan while it is closed.
private final class Gate: Sendable {
  let isClosed = Atomic(false)
  let (reached, opened) = (Signal(), Signal())
}

private final class GatedRead: ForwardingRead {
  let base: any ReadTransaction
  let gate: Gate
  init(base: any ReadTransaction, gate: Gate) { (self.base, self.gate) = (base, gate) }

  /// None: every read has to be seen.
  var powers: StoragePowers { StoragePowers() }

  private func pass() {
    guard gate.isClosed.load(ordering: .acquiring) else { return }
    gate.reached.fire()
    _ = gate.opened.wait()
  }

  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    pass()
    try base.scan(table, columns, from: start, hints: hints, body)
  }

  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    pass()
    try base.keys(in: index, range, descending: descending, body)
  }
}
