import Dispatch
import Testing
import Vivarium
import VivariumTestSupport

/// Who takes the steps that observed results are kept by: the notifier's thread, or a turn that has come for a small one.
@Suite struct TurnStepTests {
  private let configuration = makeConfiguration()
  private let queue = DispatchQueue(label: "observing")
  private let heard = Mailbox<[Int]>(empty: [])

  private func observe(_ results: Results<Everything>) -> NotificationToken {
    results.observe(on: queue) { [heard] change in heard.send(change.collection?.map(\.int) ?? []) }
  }

  @Test func aSmallChangeIsToldWithoutTheNotifiersThread() throws {
    let store = try Store(configuration)
    try store.add(numbers: [3, 1])
    let token = observe(store.objects(Everything.self).sorted(by: \.int))
    #expect(heard.next() == [1, 3])
    let before = store.notifierWork
    let notifier = store.notifierQueue
    do {
      notifier.suspend()
      // Whatever fails: a queue that is suspended must not go.
      defer { notifier.resume() }
      try store.add(numbers: [2])
      #expect(heard.next() == [1, 2, 3])
    }
    let after = store.notifierWork
    #expect(after.stepsInTurns - before.stepsInTurns == 1 && after.steps - before.steps == 1)
    token.stop()
    queue.sync {}
  }

  /// Afterwards the version before is held by the context that has no time alone.
  @Test func aContextThatHasNoTimeLeavesTheStepToTheNotifier() throws {
    let held = HeldReads()
    let store = try Store(configuration.counted(by: held))
    try store.add(numbers: [1])
    let token = observe(store.objects(Everything.self).sorted(by: \.int))
    #expect(heard.next() == [1])
    let version = store.version
    do {
      queue.suspend()
      defer { queue.resume() }
      try store.add(numbers: [2])
      #expect(held.ended.wait(seconds: 60) { held.count(of: version) <= 1 })
    }
    #expect(heard.next() == [1, 2])
    token.stop()
    queue.sync {}
  }

  /// How many steps turns took to tell of an addition to results.
  private func stepsInTurns(
    of results: Results<Everything>, from first: [Int], adding numbers: [Int], to store: Store
  ) throws -> Int {
    let token = observe(results)
    #expect(heard.next() == first)
    let before = store.notifierWork
    try store.add(numbers: numbers)
    #expect(heard.next() == first + numbers)
    let after = store.notifierWork
    token.stop()
    queue.sync {}
    return after.stepsInTurns - before.stepsInTurns
  }

  @Test func aLargeCommitIsTheNotifiersStep() throws {
    let store = try Store(configuration)
    try store.add(numbers: [0])
    let results = store.objects(Everything.self).sorted(by: \.int)
    #expect(try stepsInTurns(of: results, from: [0], adding: Array(1...100), to: store) == 0)
  }

  @Test func whatIsAskedAgainIsTheNotifiersStep() throws {
    let store = try Store(configuration)
    try store.add(numbers: [1])
    let results = store.objects(Everything.self).distinct(by: \.int)
    #expect(try stepsInTurns(of: results, from: [1], adding: [2], to: store) == 0)
  }

  @Test func aChangeOverLinksIsTheNotifiersStep() throws {
    let store = try Store(configuration)
    let dog = Dog(name: "Rex", age: 1)
    let person = Person(name: "Jane")
    try store.write {
      try store.add(person)
      try store.add(dog)
      person.best = dog
    }
    let token = store.objects(Person.self).observe(on: queue) { [heard] change in
      heard.send(change.collection?.compactMap(\.best?.age) ?? [])
    }
    #expect(heard.next() == [1])
    let before = store.notifierWork
    try store.write { dog.age = 2 }
    #expect(heard.next() == [2])
    #expect(store.notifierWork.stepsInTurns == before.stepsInTurns)
    token.stop()
    queue.sync {}
  }
}
