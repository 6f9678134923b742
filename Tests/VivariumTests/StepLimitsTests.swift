import Dispatch
import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Which steps are not left to a context, however little their commits look, and what a turn does before it knows.
@Suite struct StepLimitsTests {
  private let configuration = makeConfiguration()
  private let held = HeldReads()
  private let queue = DispatchQueue(label: "observing")
  private let heard = Mailbox<[Int]>(empty: [])

  private func observe(_ results: Results<Everything>) -> NotificationToken {
    results.observe(on: queue) { [heard] change in heard.send(change.collection?.map(\.int) ?? []) }
  }

  /// Whether the notifier's thread is asked at once, while no context has time: then the observing stores alone hold the version before.
  private func isTakenAtOnce(of store: Store, observers: Int = 1, _ commit: () throws -> Void) throws -> Bool {
    _ = store.notifierWork
    let version = store.version
    queue.suspend()
    // Whatever fails: a queue that is suspended must not go.
    defer { queue.resume() }
    try commit()
    store.notifierQueue.sync {}
    return held.count(of: version) <= observers
  }

  @Test func aCommitThatManyResultsSeeWaitsForNoContext() throws {
    let store = try Store(configuration.counted(by: held))
    try store.add(numbers: [1])
    let all = store.objects(Everything.self).sorted(by: \.int)
    let tokens = (0..<33).map { least in observe(all.where { $0.int > -least }) }
    for _ in tokens { #expect(heard.next() == [1]) }
    #expect(try isTakenAtOnce(of: store, observers: tokens.count) { try store.add(numbers: [2]) })
    for token in tokens { token.stop() }
    queue.sync {}
  }

  @Test func aChangeOverLinksWaitsForNoContext() throws {
    let store = try Store(configuration.counted(by: held))
    let (dog, person) = (Dog(name: "Rex", age: 1), Person(name: "Jane"))
    try store.write {
      try store.add(person)
      try store.add(dog)
      person.best = dog
    }
    let token = store.objects(Person.self).observe(on: queue) { [heard] change in
      heard.send(change.collection?.compactMap(\.best?.age) ?? [])
    }
    #expect(heard.next() == [1])
    #expect(try isTakenAtOnce(of: store) { try store.write { dog.age = 2 } })
    #expect(heard.next() == [2])
    token.stop()
    queue.sync {}
  }

  @Test func manyEditsOfOneListWaitForNoContext() throws {
    let store = try Store(configuration.counted(by: held))
    let person = Person(name: "Jane")
    try store.write { try store.add(person) }
    let token = person.scores.observe(on: queue) { [heard] change in heard.send([change.collection?.count ?? -1]) }
    #expect(heard.next() == [0])
    #expect(try isTakenAtOnce(of: store) { try store.write { person.scores.append(contentsOf: (0..<100).map(Double.init)) } })
    #expect(heard.next() == [100])
    token.stop()
    queue.sync {}
  }

  /// The small one waits for a context, which would find both.
  @Test func aLargeCommitAfterASmallOneWaitsForNoContext() throws {
    let store = try Store(configuration.counted(by: held))
    try store.add(numbers: [1])
    let token = observe(store.objects(Everything.self).sorted(by: \.int))
    #expect(heard.next() == [1])
    let isTaken = try isTakenAtOnce(of: store) {
      try store.add(numbers: [2])
      try store.add(numbers: 3...100)
    }
    #expect(isTaken)
    #expect(heard.next() == Array(1...100))
    token.stop()
    queue.sync {}
  }

  /// The notifier's thread releases the version before, so that the turn need not before it tells its own observers.
  @Test func whoeverTakesAStepIsToldBeforeTheOldVersionIsReleased() throws {
    let store = try Store(configuration.counted(by: held))
    try store.add(numbers: [1])
    let token = observe(store.objects(Everything.self).sorted(by: \.int))
    #expect(heard.next() == [1])
    _ = store.notifierWork
    let (notifier, version) = (store.notifierQueue, store.version)
    do {
      notifier.suspend()
      defer { notifier.resume() }
      try store.add(numbers: [2])
      #expect(heard.next() == [1, 2])
      queue.sync {}
      #expect(held.count(of: version) == 1)
    }
    notifier.sync {}
    #expect(held.count(of: version) == 0)
    token.stop()
    queue.sync {}
  }

  /// What others committed has to be decoded, and is once more by whoever takes the step.
  @Test func aTurnReadsNoMoreOfOthersCommitsThanASmallStepTakes() throws {
    let history = ReadHistory()
    var seen = configuration
    seen.backend = ForwardingBackend(configuration.backend) { engine in
      ForwardingEngine(engine, read: { HistoryRead(base: $0, history: history) })
    }
    let (store, other) = (try Store(seen), try Store(configuration))
    try store.add(numbers: [0])
    let token = observe(store.objects(Everything.self).sorted(by: \.int))
    #expect(heard.next() == [0])
    _ = store.notifierWork
    do {
      let notifier = store.notifierQueue
      notifier.suspend()
      defer { notifier.resume() }
      do {
        queue.suspend()
        defer { queue.resume() }
        for number in 1...1_000 { try other.add(numbers: [number]) }
      }
      #expect(history.called.wait())
      queue.sync {}
      #expect(history.called.count <= 33)
    }
    #expect(heard.next() == Array(0...1_000))
    token.stop()
    queue.sync {}
  }
}

/// The commits that are read from the history.
private final class ReadHistory: Sendable {
  let called = Signal()
}

private final class HistoryRead: ForwardingRead {
  let base: any ReadTransaction
  private let history: ReadHistory

  init(base: any ReadTransaction, history: ReadHistory) { (self.base, self.history) = (base, history) }

  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    try base.history(after: version) { record in
      history.called.fire()
      return body(record)
    }
  }
}
