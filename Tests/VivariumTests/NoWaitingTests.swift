import Dispatch
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What a store need not wait for while others work for their own observers.
@Suite struct NoWaitingTests {
  private let gate = Gate()
  private let configuration: Store.Configuration
  private let store: Store

  init() throws {
    var configuration = makeConfiguration()
    configuration.backend = configuration.backend.behind(gate)
    self.configuration = configuration
    store = try Store(configuration)
    try store.write { for age in 0..<5 { try store.add(Dog(name: "\(age)", age: age)) } }
  }

  private static func byAge(_ store: Store) -> Results<Dog> { store.objects(Dog.self).sorted(by: \.age) }

  /// A store on a thread of its own that stays at its version.
  private final class Reader: Sendable {
    private let (isOpen, mayRead) = (Signal(), Signal())
    private let count = Mailbox<Int>(empty: -1)

    init(_ configuration: Store.Configuration) {
      onThread { [isOpen, mayRead, count] in
        let store = try? Store(configuration)
        isOpen.fire()
        _ = mayRead.wait()
        count.send(store.map { NoWaitingTests.byAge($0).count } ?? -1)
      }
      _ = isOpen.wait()
    }

    /// What it counts; nil if it does not come to its end.
    func read() -> Int? {
      mayRead.fire()
      return count.next(seconds: 60)
    }
  }

  @Test func aReadDoesNotWaitForAQuestionThatIsAskedAgain() throws {
    let token = NoWaitingTests.byAge(store).observe { _ in }
    store.refresh()
    let (asking, writing) = (try Desk(configuration), try Desk(configuration))
    let reader = Reader(configuration)
    try asking.use { store in
      asking.tokens.append(store.objects(Dog.self).distinct(by: \.age).observe { _ in asking.heard.fire() })
    }
    #expect(asking.heard.wait())
    gate.isClosed.store(true, ordering: .releasing)
    try writing.use { store in try store.write { try store.add(Dog(name: "5", age: 5)) } }
    // The question is being asked at the new version.
    #expect(gate.reached.wait())
    #expect(reader.read() == 5)
    gate.open()
    #expect(asking.heard.wait())
    try asking.use { _ in asking.tokens[0].stop() }
    token.stop()
  }

  @Test func aReadDoesNotWaitForACommitThatSkipsObservers() throws {
    let writing = try Desk(configuration)
    let reader = Reader(configuration)
    try writing.use { store in
      writing.tokens.append(NoWaitingTests.byAge(store).observe { _ in writing.heard.fire() })
    }
    #expect(writing.heard.wait())
    gate.isClosedToCommits.store(true, ordering: .releasing)
    let committed = onThread {
      _ = try? writing.use { store in
        try store.write(withoutNotifying: [writing.tokens[0]]) { try store.add(Dog(name: "5", age: 5)) }
      }
    }
    // It is on its way to the disk.
    #expect(gate.reached.wait())
    #expect(reader.read() == 5)
    gate.open()
    #expect(committed.wait())
    try writing.use { store in
      #expect(NoWaitingTests.byAge(store).count == 6)
      writing.tokens[0].stop()
    }
  }

  /// What one store has asked while a commit that skips it was under way is told when it is over.
  @Test func anObserverHearsOfEarlierChangesAfterACommitThatSkipsAnother() throws {
    let (writing, hearing) = (try Desk(configuration), try Desk(configuration))
    let counts = Mailbox<Int>(empty: -1)
    try hearing.use { store in
      hearing.tokens.append(NoWaitingTests.byAge(store).observe { counts.send($0.collection?.count ?? -1) })
    }
    #expect(counts.next() == 5)
    try writing.use { store in writing.tokens.append(store.objects(Dog.self).observe { _ in writing.heard.fire() }) }
    #expect(writing.heard.wait())
    gate.isClosedToCommits.store(true, ordering: .releasing)
    let committed = onThread {
      _ = try? writing.use { store in
        try store.write(withoutNotifying: [writing.tokens[0]]) { try store.add(Dog(name: "5", age: 5)) }
      }
    }
    #expect(gate.reached.wait())
    // Its turn comes meanwhile, and is told to come again.
    try hearing.use { _ in }
    gate.open()
    #expect(committed.wait())
    #expect(counts.next() == 6)
    try hearing.use { _ in hearing.tokens[0].stop() }
    try writing.use { _ in writing.tokens[0].stop() }
  }

  /// Nothing is kept for it, and so no step wakes its store; it is told to come again all the same.
  @Test func anObserverWhoseFirstResultCannotBeReadHearsOfItThoughItsStoreIsAhead() throws {
    let (asking, writing) = (try Desk(configuration), try Desk(configuration))
    try asking.use { store in
      asking.tokens.append(store.objects(Dog.self).distinct(by: \.age).observe { _ in asking.heard.fire() })
    }
    #expect(asking.heard.wait())
    let notifier = store.notifierQueue
    notifier.suspend()
    do {
      // Whatever fails: a queue that is suspended must not go.
      defer { notifier.resume() }
      gate.isBroken.store(true, ordering: .releasing)
      try writing.use { store in
        writing.tokens.append(
          NoWaitingTests.byAge(store).observe { change in if case .error = change { writing.heard.fire() } })
      }
      // After that result was asked for, and before the step over what is written now.
      notifier.async { [gate] in
        gate.isBroken.store(false, ordering: .releasing)
        gate.isClosed.store(true, ordering: .releasing)
      }
      try writing.use { store in try store.write { for age in 5..<45 { try store.add(Dog(name: "\(age)", age: age)) } } }
    }
    // The other one's question is being asked at the new version.
    #expect(gate.reached.wait())
    try writing.use { _ in }
    gate.open()
    #expect(writing.heard.wait(seconds: 60))
    #expect(asking.heard.wait())
    try writing.use { _ in writing.tokens[0].stop() }
    try asking.use { _ in asking.tokens[0].stop() }
  }
}
