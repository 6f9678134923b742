import Dispatch
import StoreOperations
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct RunningTests {
  @Test func aCompositionIsOneTransaction() throws {
    let store = try makeStore()
    let before = commitCount(store)
    let both = Store.IO.add(Dog(name: "Taro")).flatMap { _ in Store.IO.add(Dog(name: "Jiro")) }
    let jiro = try store.run(io: both)
    #expect(commitCount(store) == before + 1 && jiro.name == "Jiro")
    #expect(store.objects(Dog.self).map(\.name) == ["Taro", "Jiro"])
  }

  @Test func readingOpensNoTransaction() throws {
    let store = try makeStore()
    let before = commitCount(store)
    let io = StoreRO { store in (store.objects(Dog.self).count, store.isInWriteTransaction) }
    let (count, isWriting) = try store.run(io: io)
    #expect(count == 0 && !isWriting && commitCount(store) == before)
  }

  @Test func readingStaysOnOneVersion() throws {
    let configuration = makeConfiguration()
    let store = try Store(configuration, isolation: nil)
    let count = StoreRO { $0.objects(Dog.self).count }
    let disturbed = count.flatMap { before in
      try Store(configuration, isolation: nil).run(io: Store.IO.add(Dog(name: "Rex")))
      return StoreRO { $0.refresh() }.zip(count).map { refreshed, after in (before, refreshed, after) }
    }
    let (before, refreshed, after) = try store.run(io: disturbed)
    #expect(before == 0 && !refreshed && after == 0)
    store.refresh()
    #expect(try store.run(io: count) == 1)
  }

  @Test func aWriteInsideReadingIsRefused() throws {
    let store = try makeStore()
    let lie = StoreRO { try $0.write {} }
    #expect(throws: StoreError.self) { try store.run(io: lie) }
    let adds = StoreRO { try $0.add(Dog(name: "Rex")) }
    for io in [AnyStoreIO(adds), AnyStoreIO(StoreRW { _ in }.flatMap { _ in adds })] {
      do {
        try store.run(io: io)
        Issue.record("It was not refused.")
      } catch let error as StoreError {
        #expect(error.code == .readOnlyOperation)
      }
    }
    #expect(store.objects(Dog.self).isEmpty && !store.isInWriteTransaction)
    // What was refused left nothing behind.
    try store.run(io: Store.IO.add(Dog(name: "Rex")))
    #expect(store.objects(Dog.self).count == 1)
  }

  @Test func aThrowUndoesTheWholeCompositionAndIsUnchanged() throws {
    let store = try makeStore()
    let failing = Store.IO.add(Dog(name: "Rex")).flatMap { _ in StoreRW<Int>(error: Refused(number: 3)) }
    #expect(throws: Refused(number: 3)) { try store.run(io: failing) }
    #expect(store.objects(Dog.self).isEmpty && !store.isInWriteTransaction)
    let twice = Store.IO.add(Dog(name: "Rex")).flatMap { _ in Store.IO.add(Dog(name: "Rex")) }
    do {
      try store.run(io: twice)
    } catch StoreError.Code.primaryKeyExists {
      #expect(store.objects(Dog.self).isEmpty)
    }
  }

  @Test func aCancelledWriteLeavesNothing() throws {
    let store = try makeStore()
    let io = Store.IO.add(Dog(name: "Rex")).map { dog in
      dog.store?.cancelWrite()
      return 7
    }
    #expect(try store.run(io: io) == 7)
    #expect(store.objects(Dog.self).isEmpty)
  }

  @Test func aThrowAfterACancelledWriteCancelsNothingElse() throws {
    let store = try makeStore()
    let io = Store.IO.add(Dog(name: "Rex")).map { dog -> Int in
      dog.store?.cancelWrite()
      throw Refused(number: 2)
    }
    #expect(throws: Refused(number: 2)) { try store.run(io: io) }
    #expect(store.objects(Dog.self).isEmpty && !store.isInWriteTransaction)
    try store.run(io: Store.IO.add(Dog(name: "Rex")))
    #expect(store.objects(Dog.self).count == 1)
  }

  @Test func waitingForAnotherWriterEndsInTime() throws {
    let configuration = makeConfiguration()
    let store = try Store(configuration, isolation: nil)
    let (begun, ended) = (Signal(), Signal())
    onThread {
      do {
        let other = try Store(configuration, isolation: nil)
        try other.beginWrite()
        begun.fire()
        _ = ended.wait()
        other.cancelWrite()
      } catch { Issue.record(error) }
    }
    #expect(begun.wait())
    do {
      try store.run(io: Store.IO.add(Dog(name: "Rex")), timeout: .milliseconds(1))
      Issue.record("Somebody else writes.")
    } catch let error as StoreError {
      #expect(error.code == .writeTimeout)
    }
    ended.fire()
    try store.run(io: Store.IO.add(Dog(name: "Rex")))
    #expect(store.objects(Dog.self).count == 1)
  }

  @Test func whatIsReadBeforeAWriteIsReadInsideIt() throws {
    // Reading, then writing: were the reading done before the right to write is held, two would see one count.
    let configuration = makeConfiguration()
    let keeper = try Store(configuration, isolation: nil)
    let next = StoreRO { $0.objects(Dog.self).count }.flatMap { count in Store.IO.add(Dog(name: "Dog \(count)")) }
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      do {
        let store = try Store(configuration, isolation: nil)
        for _ in 0..<25 { try store.run(io: next) }
      } catch { Issue.record(error) }
    }
    keeper.refresh()
    #expect(keeper.objects(Dog.self).count == 100)
  }

  @Test func anOpenWriteIsJoined() throws {
    let store = try makeStore()
    let before = commitCount(store)
    try store.write {
      try store.run(io: Store.IO.add(Dog(name: "Taro")))
      #expect(throws: Refused(number: 1)) {
        try store.run(io: Store.IO.add(Dog(name: "Jiro")).flatMap { _ in StoreRW<Int>(error: Refused(number: 1)) })
      }
      // What failed is undone alone, and reading sees the write.
      #expect(try store.run(io: Store.IO.objects(Dog.self)).map(\.name) == ["Taro"])
    }
    #expect(commitCount(store) == before + 1 && store.objects(Dog.self).map(\.name) == ["Taro"])
  }

  @Test func observersThatAreLeftOutAreNotTold() throws {
    let store = try makeStore()
    var told: [Int] = []
    let token = store.objects(Dog.self).observe { change in told.append(change.collection?.count ?? -1) }
    store.refresh()
    try store.run(io: Store.IO.add(Dog(name: "Taro")), withoutNotifying: [token])
    store.refresh()
    #expect(told == [0])
    try store.run(io: Store.IO.add(Dog(name: "Jiro")))
    store.refresh()
    #expect(told == [0, 2])
    token.stop()
  }

  @Test func readingInsideAWriteSeesItThoughItIsObserved() throws {
    let store = try makeStore()
    let token = store.objects(Dog.self).observe { _ in }
    store.refresh()
    let counted = Store.IO.add(Dog(name: "Taro")).flatMap { _ in StoreRO { $0.objects(Dog.self).count } }
    #expect(try store.run(io: counted) == 1)
    token.stop()
  }

  @Test func anOperationRunsAgainAndInOtherStores() throws {
    let (one, two) = (try makeStore(), try makeStore())
    let io = StoreRO { $0.objects(Dog.self).count }.flatMap { count in Store.IO.add(Dog(name: "Dog \(count)")) }
    try one.run(io: io)
    try one.run(io: io)
    try two.run(io: io)
    #expect(one.objects(Dog.self).map(\.name) == ["Dog 0", "Dog 1"] && two.objects(Dog.self).count == 1)
  }

  @Test func aConfigurationRunsWithoutAStore() throws {
    let configuration = makeConfiguration()
    let store = try Store(configuration, isolation: nil)
    try configuration.run(io: Store.IO.add(Dog(name: "Rex")).map { _ in })
    store.refresh()
    #expect(store.objects(Dog.self).count == 1)
  }

  @Test func whatARecoveredOperationWroteIsUndone() throws {
    let store = try makeStore()
    let failing = Store.IO.add(Dog(name: "Rex", age: 1)).flatMap { _ in StoreRW<Dog>(error: Refused(number: 1)) }
    let io = Store.IO.add(Dog(name: "Taro")).flatMap { _ in failing.recover { _ in Store.IO.add(Dog(name: "Rex", age: 2)) } }
    try store.run(io: io)
    #expect(store.objects(Dog.self).map(\.age) == [0, 2])
  }

  @Test func anEditThatIsRejectedWithoutThrowingIsRecoveredToo() throws {
    let store = try makeStore()
    try store.write { try store.add([Dog(name: "Rex"), Dog(name: "Taro", age: 3)]) }
    // A setter cannot throw, and a primary key is fixed: the write learns of it when the operation's part ends.
    let refused = StoreRW { store -> Int in
      let dog = store.object(Dog.self, forPrimaryKey: "Taro")
      dog?.age = 9
      dog?.name = "Rex"
      return 0
    }
    let result = try store.run(io: refused.recover { error in
      #expect((error as? StoreError)?.code == .primaryKeyIsFixed)
      return StoreRW { _ in 7 }
    })
    #expect(result == 7 && store.object(Dog.self, forPrimaryKey: "Taro")?.age == 3)
    let attempts = Mutex(0)
    let again = StoreRW { store -> Int in
      attempts.withLock { $0 += 1 }
      store.object(Dog.self, forPrimaryKey: "Taro")?.name = "Rex"
      return 0
    }
    #expect(throws: StoreError.self) { try store.run(io: again.retry(3)) }
    #expect(attempts.withLock { $0 } == 4)
  }

  @Test func retryTriesAsOftenAsItSays() throws {
    let store = try makeStore()
    let io = StoreRW { store in
      let attempt = store.objects(Dog.self).count
      try store.add(Dog(name: "Dog \(attempt)"))
      throw Refused(number: attempt)
    }
    var failed = 0
    do { try store.run(io: io.retry(3)) } catch is Refused { failed += 1 }
    do { try store.run(io: io.retry(3) { _ in false }) } catch is Refused { failed += 1 }
    // Each attempt found what the one before it wrote undone.
    #expect(failed == 2 && store.objects(Dog.self).isEmpty)
  }

  @Test func filterFailsWhatDoesNotPass() throws {
    let store = try makeStore()
    let count = StoreRO { $0.objects(Dog.self).count }
    #expect(try store.run(io: count.filter { $0 == 0 }) == 0)
    #expect(throws: Refused(number: 4)) { try store.run(io: count.filter({ $0 > 0 }, otherwise: Refused(number: 4))) }
    do {
      _ = try store.run(io: count.filter { $0 > 0 })
    } catch let error as StoreError {
      #expect(error.code == .conditionNotMet)
    }
  }
}
