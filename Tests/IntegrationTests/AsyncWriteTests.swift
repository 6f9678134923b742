import Foundation
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Writes that are asked for here and happen elsewhere.
@Suite struct AsyncWriteTests {
  @Test(arguments: Engine.allCases) func aThousandMixedWritesHappenInTheOrderOfAsking(engine: Engine) async throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.durability = .relaxed
    let author = Clerk()
    let (order, count) = try await author.mixed(configuration, count: 1_000)
    #expect(order == Array(0..<1_000))
    #expect(count == 1_000)
  }

  @Test(arguments: Engine.allCases) func aSynchronousWriteComesAfterThoseThatWereAskedForBefore(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let holder = try Store(configuration)
    try holder.beginWrite()
    let done = Signal()
    let asked = try Store(configuration)
    func ask(_ number: Int) { asked.writeAsync { try $0.add(Book(pages: number)) } onComplete: { _ in done.fire() } }
    for number in 0..<5 { ask(number) }
    // Its cancellation leaves no gap.
    asked.writeAsync { try $0.add(Book(pages: 99)) }.cancel()
    Thread {
      let here = try? Store(configuration)
      try? here?.write { try here?.add(Book(pages: 5)) }
      done.fire()
    }.start()
    while asked.waitingWriteCount < 6 { sched_yield() }
    ask(6)
    holder.cancelWrite()
    #expect(done.wait { done.count == 7 })
    asked.refresh()
    #expect(asked.objects(Book.self).map(\.pages) == Array(0...6))
    #expect(asked.waitingWriteCount == 0)
  }

  @Test func aSynchronousWriteBehindOthersKeepsItsDeadline() throws {
    var (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let holder = try Store(configuration)
    try holder.beginWrite()
    let asked = try Store(configuration)
    let request = asked.writeAsync { try $0.add(Book()) }
    configuration.writeTimeout = .milliseconds(5)
    let late = try Store(configuration)
    #expect { try late.write {} } throws: { StoreError.Code.writeTimeout ~= $0 }
    #expect(request.cancel())
    holder.cancelWrite()
    configuration.writeTimeout = nil
    let next = try Store(configuration)
    try next.write { try next.add(Book(title: "next")) }
    #expect(next.objects(Book.self).map(\.title) == ["next"])
  }

  @Test(arguments: Engine.allCases) func aWriteThatTheWorkerItselfMakesDoesNotWaitForTheWorker(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    // Without a context the completion runs on the worker, with more writes queued behind it.
    let store = try Store(configuration)
    let done = Signal()
    for number in 0..<3 {
      store.writeAsync { try $0.add(Book(pages: number)) } onComplete: { _ in
        let inner = try? Store(configuration)
        try? inner?.write { try inner?.add(Book(pages: 10 + number)) }
        done.fire()
      }
    }
    #expect(done.wait { done.count == 3 })
    store.refresh()
    #expect(Set(store.objects(Book.self).map(\.pages)) == [0, 1, 2, 10, 11, 12])
  }

  @Test(arguments: Engine.allCases) func aWriteCancelledWhileItRunsIsUndone(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (inside, go) = (AsyncSignal(), Signal())
    let task = Task {
      try await configuration.write { store in
        try store.add(Book(title: "lost"))
        inside.fire()
        _ = go.wait()
        try store.add(Book(title: "lost too"))
      }
    }
    await inside.wait()
    task.cancel()
    go.fire()
    await #expect { try await task.value } throws: { StoreError.Code.cancelled ~= $0 }
    #expect(try Store(configuration).objects(Book.self).isEmpty)
  }

  @Test(arguments: Engine.allCases) func aLongBodyNoticesThatNobodyWantsIt(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let inside = AsyncSignal()
    let task = Task {
      try await configuration.write { store in
        inside.fire()
        while true {
          try store.checkCancellation()
          try store.savepoint { try store.add(Book()) }
        }
      }
    }
    await inside.wait()
    task.cancel()
    await #expect { try await task.value } throws: { StoreError.Code.cancelled ~= $0 }
    let store = try Store(configuration)
    try store.write { try store.add(Book(title: "next")) }
    #expect(store.objects(Book.self).map(\.title) == ["next"])
  }

  @Test(arguments: Engine.allCases) func cancellingAWriteThatWaitsForTheLockEndsItAtOnce(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let holder = try Store(configuration)
    try holder.beginWrite()
    let outcome = Mutex<StoreError.Code?>(nil)
    let done = AsyncSignal()
    let other = try Store(configuration)
    let request = other.writeAsync { store in
      try store.add(Book())
    } onComplete: { error in
      outcome.withLock { $0 = (error as? StoreError)?.code }
      done.fire()
    }
    #expect(request.cancel())
    // It is told while the holder still writes.
    await done.wait()
    #expect(outcome.withLock { $0 } == .cancelled)
    #expect(!request.cancel())
    holder.cancelWrite()
    try other.write { #expect(other.objects(Book.self).isEmpty) }
  }

  @Test(arguments: Engine.allCases) func aWriteThatComesTooLateSaysSo(engine: Engine) async throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let holder = try Store(configuration)
    try holder.beginWrite()
    configuration.writeTimeout = .milliseconds(20)
    let late = try Store(configuration)
    #expect { try late.write {} } throws: { StoreError.Code.writeTimeout ~= $0 }
    #expect(!late.isInWriteTransaction)
    await #expect { try await late.write { _ in } } throws: { StoreError.Code.writeTimeout ~= $0 }
    holder.cancelWrite()
    try late.write { try late.add(Book()) }
    #expect(late.objects(Book.self).count == 1)
  }

  @Test(arguments: Engine.allCases) func configurationsWriteAndReadWithoutAStore(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let keeper = try Store(configuration)
    let count = try await configuration.write { store in
      try store.add(Book(title: "A"))
      return store.objects(Book.self).count
    }
    #expect(count == 1)
    #expect(try await configuration.read { store in store.objects(Book.self).map(\.title) } == ["A"])
    await #expect { try await configuration.read { store in try store.add(Book()) } } throws: { StoreError.Code.notInWrite ~= $0 }
    keeper.refresh()
    #expect(keeper.objects(Book.self).count == 1)
  }

  @Test(arguments: Engine.allCases) func aBackgroundJobHoldsNothingAfterwards(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let held = try await store.background { job in
      for i in 0..<3 { try job.write { try job.add(Book(title: "\(i)")) } }
      return try job.heldVersions().count
    }
    #expect(held == 2)
    #expect(try store.heldVersions().count == 1 && store.objects(Book.self).count == 3)
  }

  @Test(arguments: Engine.allCases) func observersOfAWaitingWriteHearBeforeItOpens(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let holder = try Store(configuration)
    try holder.beginWrite()
    try holder.add(Book(title: "first"))
    let (begun, done) = (AsyncSignal(), AsyncSignal())
    let states = Mutex<[String]>([])
    // On a thread of its own: a write that waits blocks it.
    Thread {
      try? note(configuration, begun) { state in states.withLock { $0.append(state) } }
      done.fire()
    }.start()
    await begun.wait()
    try holder.commitWrite()
    await done.wait()
    #expect(states.withLock { $0 } == ["1 books, open: false", "in the write: 1 books"])
  }

  @Test(arguments: Engine.allCases) func anObserverMayWrite(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (one, two) = (try Store(configuration), try Store(configuration))
    var failures = 0
    let token = two.observe { _, store in
      guard store.objects(Book.self).count == 1 else { return }
      do { try store.write { try store.add(Book(title: "by the observer")) } } catch { failures += 1 }
    }
    try one.write { try one.add(Book(title: "first")) }
    two.refresh()
    #expect(two.objects(Book.self).map(\.title) == ["first", "by the observer"] && failures == 0)
    try two.write { try two.delete(two.objects(Book.self)) }
    // The next one finds it by beginning a write of its own.
    try one.write { try one.add(Book(title: "second")) }
    try two.write { try two.add(Book(title: "third")) }
    #expect(two.objects(Book.self).map(\.title) == ["second", "by the observer", "third"] && failures == 0)
    token.stop()
  }
}

private actor Clerk {
  /// Synchronous and asynchronous writes in turn, each of which notes its number.
  func mixed(_ configuration: Store.Configuration, count: Int) async throws -> ([Int], Int) {
    let store = try await Store.open(configuration)
    let done = AsyncSignal()
    for number in 0..<count {
      // Each behind those that were asked for before.
      switch number % 4 {
      case 0, 2:
        store.writeAsync { store in try store.add(Book(pages: number)) } onComplete: { _ in done.fire() }
      case 1:
        try store.write { try store.add(Book(pages: number)) }
      default:
        try await store.write { store in try store.add(Book(pages: number)) }
      }
    }
    await done.wait(count: (count + 1) / 2)
    store.refresh()
    return (store.objects(Book.self).map(\.pages), store.objects(Book.self).count)
  }
}

/// Writes once, and says what an observer and the write see.
private func note(
  _ configuration: Store.Configuration, _ begun: AsyncSignal, _ say: @escaping (String) -> Void
) throws {
  let store = try Store(configuration)
  let token = store.observe { _, store in
    say("\(store.objects(Book.self).count) books, open: \(store.isInWriteTransaction)")
  }
  defer { token.stop() }
  begun.fire()
  try store.write { say("in the write: \(store.objects(Book.self).count) books") }
}
