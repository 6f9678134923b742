import Dispatch
import Foundation
import StorageInterface
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Writes that begin when their turn has come, on the store's own context.
@Suite struct AsyncTransactionTests {
  @Test(arguments: Engine.allCases) func blocksRunInOrderOnTheContextWithItsObjects(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let desk = try await AsyncDesk(configuration)
    #expect(try await desk.countTo(50) == Array(1...50))
  }

  @Test(arguments: Engine.allCases) func aBlocksUnfinishedWriteIsUndone(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let desk = try await AsyncDesk(configuration)
    let (log, titles) = try await desk.unfinished()
    #expect(log == ["left open", "threw"] && titles == ["kept"])
  }

  @Test(arguments: Engine.allCases) func aSynchronousWriteGoesFirstAndTheBlockFollows(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let desk = try await AsyncDesk(configuration)
    #expect(try await desk.overtake() == ["synchronous", "asynchronous"])
  }

  @Test(arguments: Engine.allCases) func aCancelledBlockNeverRunsAndTheNextDoes(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let desk = try await AsyncDesk(configuration)
    let (titles, code) = try await desk.cancelOne()
    #expect(titles == ["second"] && code == .cancelled)
  }

  @Test(arguments: Engine.allCases) func aBlockThatIsCancelledWhileAnotherWritesHearsOfItBeforeThatEnds(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let writer = try Store(configuration)
    try writer.beginWrite()
    let desk = try await AsyncDesk(configuration)
    #expect(try await desk.cancelWaiting() == .cancelled)
    writer.cancelWrite()
  }

  @Test(arguments: Engine.allCases, [true, false])
  func commitsAreSeenAtOnceAndThoseThatMayShareTheNextWaitForTheDisk(engine: Engine, sharing: Bool) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let disk = HeldDisk()
    var held = configuration
    held.backend = ForwardingBackend(configuration.backend) { HeldEngine($0, disk) }
    let desk = try await AsyncDesk(held)
    let working = engine == .reference ? nil : disk
    let outcome = try await desk.commitWhileTheDiskWorks(20, sharing: sharing, disk: working, seenBy: configuration)
    #expect(outcome.seen == 20)
    // The reference engine keeps nothing that could be waited for. The first waits alone, and keeps the disk from the others.
    #expect(outcome.syncs == (engine == .reference ? 0 : sharing ? 2 : 20) && outcome.syncs == disk.syncs)
    // None was said to be durable while the disk had answered nobody.
    #expect(outcome.log == ["20 committed"] + Array(repeating: "durable", count: 20))
  }

  @Test func aStoreWithoutAContextCannotBeginLater() async throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    #expect { try store.beginAsyncWrite {} } throws: { StoreError.Code.wrongContext ~= $0 }
  }

  @Test(arguments: Engine.allCases) func aStoreThatEndsWhileItWaitsLetsGoOfTheRight(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let keeper = try Store(configuration)
    for _ in 0..<5 {
      let desk = try await AsyncDesk(configuration)
      try await desk.beginAndForget()
    }
    // On the worker, so that the desks' turns find a thread.
    try await configuration.write { store in try store.add(Book(title: "free")) }
    keeper.refresh()
    #expect(keeper.objects(Book.self).map(\.title) == ["free"])
  }

  @Test(arguments: Engine.allCases) func aQueuesStoreBeginsOnItsQueue(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let queue = DispatchQueue(label: "test.async")
    let done = Signal()
    let box = try queue.sync { try QueueStore(configuration, queue) }
    try queue.sync { try box.addLater("on the queue", done) }
    #expect(done.wait())
    #expect(queue.sync { box.titles() } == ["on the queue"])
    #expect { try box.addLater("elsewhere", done) } throws: { StoreError.Code.wrongContext ~= $0 }
    queue.sync { box.end() }
  }
}

/// A store of a queue, and used there alone; once elsewhere, to be refused.
private final class QueueStore: @unchecked Sendable {
  // Sound because the test uses it inside `queue.sync`, and once outside while the queue rests.
  private var store: Store?

  init(_ configuration: Store.Configuration, _ queue: DispatchQueue) throws {
    store = try Store(configuration, queue: queue)
  }

  func addLater(_ title: String, _ done: Signal) throws {
    guard let store else { return }
    try store.beginAsyncWrite {
      try store.add(Book(title: title))
      try store.commitAsyncWrite { _ in done.fire() }
    }
  }

  func titles() -> [String] { store?.objects(Book.self).map(\.title) ?? [] }
  func end() { store = nil }
}

private actor AsyncDesk {
  private let configuration: Store.Configuration
  private var store: Store?
  private var waiting: CheckedContinuation<Void, Never>?
  private var seen: [Int] = []
  private var log: [String] = []
  private var code: StoreError.Code?

  init(_ configuration: Store.Configuration) async throws {
    self.configuration = configuration
  }

  private func opened() throws -> Store {
    if let store { return store }
    let made = try Store(configuration)
    store = made
    return made
  }

  private func finish() {
    waiting?.resume()
    waiting = nil
  }

  func countTo(_ count: Int) async throws -> [Int] {
    let store = try opened()
    let book = Book()
    try store.write { try store.add(book) }
    for number in 1...count {
      try store.beginAsyncWrite {
        book.pages += 1
        #expect(store.isInWriteTransaction)
        self.seen.append(book.pages)
        try store.commitAsyncWrite()
        if number == count { self.finish() }
      }
    }
    await withCheckedContinuation { waiting = $0 }
    #expect(book.pages == count)
    return seen
  }

  func unfinished() async throws -> ([String], [String]) {
    let store = try opened()
    try store.beginAsyncWrite {
      self.log.append("left open")
      try store.add(Book(title: "left open"))
    }
    try store.beginAsyncWrite {
      try store.add(Book(title: "lost"))
      throw CancellationError()
    } onError: {
      self.log.append($0 is CancellationError ? "threw" : "another")
    }
    try store.beginAsyncWrite {
      try store.add(Book(title: "kept"))
      try store.commitWrite()
      self.finish()
    }
    await withCheckedContinuation { waiting = $0 }
    return (log, store.objects(Book.self).map(\.title))
  }

  func overtake() async throws -> [String] {
    let store = try opened()
    try store.beginAsyncWrite {
      try store.add(Book(title: "asynchronous"))
      try store.commitAsyncWrite()
      self.finish()
    }
    // The right is on its way or here already; this call cannot wait for a later turn.
    try store.write { try store.add(Book(title: "synchronous")) }
    await withCheckedContinuation { waiting = $0 }
    return store.objects(Book.self).map(\.title)
  }

  func cancelOne() async throws -> ([String], StoreError.Code?) {
    let store = try opened()
    let first = try store.beginAsyncWrite {
      try store.add(Book(title: "first"))
      try store.commitWrite()
    } onError: {
      self.code = ($0 as? StoreError)?.code
    }
    #expect(store.cancelAsyncWrite(first))
    try store.beginAsyncWrite {
      try store.add(Book(title: "second"))
      try store.commitWrite()
      self.finish()
    }
    await withCheckedContinuation { waiting = $0 }
    return (store.objects(Book.self).map(\.title), code)
  }

  func cancelWaiting() async throws -> StoreError.Code? {
    let store = try opened()
    let write = try store.beginAsyncWrite {
      try store.commitWrite()
    } onError: {
      self.code = ($0 as? StoreError)?.code
      self.finish()
    }
    #expect(write.cancel())
    await withCheckedContinuation { waiting = $0 }
    return code
  }

  /// What another store saw of commits that came while the disk worked on the first of them, and what came of them when it went on.
  struct Grouped: Sendable {
    var seen = 0
    var syncs = 0
    var log: [String] = []
  }

  func commitWhileTheDiskWorks(
    _ count: Int, sharing: Bool, disk: HeldDisk?, seenBy configuration: Store.Configuration
  ) async throws -> Grouped {
    let store = try opened()
    let other = try Store(configuration)
    let (log, durable) = (SharedLog(), AsyncSignal())
    let before = store.syncCount
    for number in 1...count {
      try store.beginWrite()
      try store.add(Book())
      try store.commitAsyncWrite(allowGrouping: sharing) { error in
        log.add(error == nil ? "durable" : "lost")
        durable.fire()
      }
      if number == 1 { await disk?.entered.wait() }
    }
    other.refresh()
    var outcome = Grouped(seen: other.objects(Book.self).count)
    log.add("\(count) committed")
    disk?.release()
    await durable.wait(count: count)
    (outcome.syncs, outcome.log) = (store.syncCount - before, log.lines)
    return outcome
  }

  func beginAndForget() throws {
    let store = try opened()
    try store.beginAsyncWrite { try store.commitWrite() }
    self.store = nil
  }
}

/// A disk that keeps who waits for it first until it is released.
private final class HeldDisk: Sendable {
  let entered = AsyncSignal()
  private let released = Signal()
  private let total = Atomic(0)

  /// How often it was waited for.
  var syncs: Int { total.load(ordering: .acquiring) }

  func release() { released.fire() }

  func wait() {
    if total.add(1, ordering: .acquiringAndReleasing).newValue > 1 { return }
    entered.fire()
    _ = released.wait()
  }
}

/// An engine on such a disk.
private final class HeldEngine: EngineInFront, DeferredSync {
  let base: any StorageEngine
  private let disk: HeldDisk

  init(_ base: any StorageEngine, _ disk: HeldDisk) { (self.base, self.disk) = (base, disk) }

  var powers: EnginePowers {
    var powers = base.powers
    if powers.syncing != nil { powers.syncing = self }
    return powers
  }

  func syncCommits() throws(StorageError) {
    disk.wait()
    try base.powers.syncing?.syncCommits()
  }
}

private final class SharedLog: Sendable {
  private let said = Mutex<[String]>([])
  var lines: [String] { said.withLock { $0 } }
  func add(_ line: String) { said.withLock { $0.append(line) } }
}
