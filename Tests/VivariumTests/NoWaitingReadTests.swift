import Dispatch
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What a store that has committed does not do for the observers of others, and what does not wait for its commit.
@Suite struct NoWaitingReadTests {
  private let gate = Gate()
  private let configuration: Store.Configuration
  private let store: Store

  init() throws {
    var configuration = makeConfiguration()
    configuration.backend = configuration.backend.behind(gate)
    self.configuration = configuration
    store = try Store(configuration)
    try store.write {
      try store.add(Everything())
      for age in 0..<5 { try store.add(Dog(name: "\(age)", age: age)) }
    }
  }

  private static func byAge(_ store: Store) -> Results<Dog> { store.objects(Dog.self).sorted(by: \.age) }

  /// A store that observes the dogs, and one that observes something else.
  private func makeDesks(_ asked: @escaping (Store, Signal) throws -> NotificationToken) throws -> (asking: Desk, writing: Desk) {
    let (asking, writing) = (try Desk(configuration), try Desk(configuration))
    try asking.use { store in asking.tokens.append(try asked(store, asking.heard)) }
    #expect(asking.heard.wait())
    try writing.use { store in writing.tokens.append(NoWaitingReadTests.byAge(store).observe { _ in writing.heard.fire() }) }
    #expect(writing.heard.wait())
    return (asking, writing)
  }

  /// What a store counts; nil if it does not come to its end.
  private func count(in desk: Desk) -> Int? {
    let count = Mailbox<Int>(empty: -1)
    onThread { count.send((try? desk.use { NoWaitingReadTests.byAge($0).count }) ?? -1) }
    return count.next(seconds: 60)
  }

  private func stop(_ desks: Desk...) throws {
    for desk in desks { try desk.use { _ in for token in desk.tokens { token.stop() } } }
  }

  @Test func aReadAfterAnOwnCommitDoesNotAskTheQuestionsOfOthers() throws {
    let (asking, writing) = try makeDesks { store, heard in
      store.objects(Everything.self).distinct(by: \.int).observe { _ in heard.fire() }
    }
    let notifier = store.notifierQueue
    do {
      notifier.suspend()
      // Whatever fails: a queue that is suspended must not go.
      defer { notifier.resume() }
      try writing.use { store in
        // With a number that nothing else has.
        let another = Everything()
        another.int = 1
        try store.write {
          try store.add(another)
          try store.add(Dog(name: "5", age: 5))
        }
        gate.close("Everything")
      }
      #expect(count(in: writing) == 6)
      gate.open()
    }
    #expect(asking.heard.wait())
    try stop(asking, writing)
  }

  @Test func aReadAfterAnOwnCommitDoesNotWaitForTheRowsOfOthers() throws {
    let (asking, writing) = try makeDesks { store, heard in
      store.objects(Everything.self).sorted(by: \.int).observe { _ in heard.fire() }
    }
    let notifier = store.notifierQueue
    do {
      notifier.suspend()
      defer { notifier.resume() }
      // More than a small step takes.
      try writing.use { store in
        try store.write {
          for _ in 0..<40 { try store.add(Everything()) }
          try store.add(Dog(name: "5", age: 5))
        }
        gate.close("Everything")
      }
    }
    // The step is being taken.
    #expect(gate.reached.wait())
    #expect(count(in: writing) == 6)
    gate.open()
    #expect(asking.heard.wait())
    try stop(asking, writing)
  }

  /// The notifier's thread may be at a question by then.
  @Test func aTurnThatFoundOthersAtWorkComesAgainWithoutTheNotifiersThread() throws {
    let (reading, hearing) = (try Desk(configuration), try Desk(configuration))
    try reading.use { store in
      let object = try #require(store.objects(Everything.self).first)
      reading.tokens.append(object.observe { _ in reading.heard.fire() })
    }
    let counts = Mailbox<Int>(empty: -1)
    try hearing.use { store in
      hearing.tokens.append(NoWaitingReadTests.byAge(store).observe { counts.send($0.collection?.count ?? -1) })
    }
    #expect(counts.next() == 5)
    try reading.settle()
    try hearing.settle()
    reading.queue.suspend()
    hearing.queue.suspend()
    // Whatever fails: a queue that is suspended must not go.
    let written = Result {
      try store.write {
        store.objects(Everything.self).first?.int = 7
        try store.add(Dog(name: "5", age: 5))
      }
    }
    // The step is taken, and both are to be told.
    let notifier = store.notifierQueue
    _ = store.notifierWork
    notifier.suspend()
    gate.close("Everything")
    reading.queue.resume()
    // What it is to be told is being read, under the lock.
    #expect(gate.reached.wait())
    hearing.queue.resume()
    hearing.queue.sync {}
    gate.open()
    #expect(counts.next(seconds: 60) == 6)
    notifier.resume()
    try written.get()
    #expect(reading.heard.wait())
    try stop(reading, hearing)
  }

  @Test func observationsEndAndBeginWhileACommitThatSkipsOthersIsUnderWay() throws {
    let (hearing, writing) = try makeDesks { store, heard in NoWaitingReadTests.byAge(store).observe { _ in heard.fire() } }
    gate.isClosedToCommits.store(true, ordering: .releasing)
    let committed = onThread {
      _ = try? writing.use { store in
        try store.write(withoutNotifying: [writing.tokens[0]]) { try store.add(Dog(name: "5", age: 5)) }
      }
    }
    #expect(gate.reached.wait())
    try hearing.use { store in
      hearing.tokens[0].stop()
      hearing.tokens.append(NoWaitingReadTests.byAge(store).observe { _ in hearing.heard.fire() })
    }
    let notifier = store.notifierQueue
    #expect(onThread { notifier.sync {} }.wait(seconds: 60))
    gate.open()
    #expect(committed.wait())
    #expect(hearing.heard.wait())
    try stop(hearing, writing)
  }
}
