import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What happens while the first results of an observer are still being found.
@Suite struct FirstResultTests {
  /// Five dogs, through a gate. All stores of the configuration share one engine, and so one notifier.
  private func makeStore(_ gate: Gate) throws -> Store {
    var configuration = makeConfiguration()
    configuration.backend = configuration.backend.behind(gate)
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

  /// Nobody else observes yet, so the commit finds nobody to wake.
  @Test func aCommitWhileTheFirstResultIsFoundIsHeard() throws {
    let gate = Gate()
    let store = try makeStore(gate)
    let desk = try Desk(store.configuration)
    let ages = Mutex<[Int]>([])
    gate.isClosed.store(true, ordering: .releasing)
    try desk.use { store in
      desk.tokens.append(
        store.objects(Dog.self).where { $0.age > 2 }.sorted(by: \.age).observe { change in
          ages.withLock { $0 = change.collection?.map(\.age) ?? [] }
          desk.heard.fire()
        })
    }
    #expect(gate.reached.wait())
    try store.write { try store.add(Dog(name: "5", age: 5)) }
    gate.open()
    #expect(desk.heard.wait { ages.withLock { $0 == [3, 4, 5] } })
    try desk.use { _ in desk.tokens[0].stop() }
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
