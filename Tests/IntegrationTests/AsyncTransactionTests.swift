import Dispatch
import Foundation
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

  @Test(arguments: Engine.allCases) func aCommitIsSeenAtOnceAndDurableLater(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let desk = try await AsyncDesk(configuration)
    let (seen, syncs) = try await desk.commitManyGrouped(20)
    #expect(seen == 20)
    // They share waits for the disk where one comes while it works; the reference engine keeps nothing that could be waited for.
    #expect(engine == .reference ? syncs == 0 : (1...20).contains(syncs), "\(syncs) syncs")
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

  func commitManyGrouped(_ count: Int) async throws -> (Int, Int) {
    let store = try opened()
    let other = try Store(configuration)
    let durable = AsyncSignal()
    let before = store.syncCount
    for _ in 0..<count {
      try store.beginWrite()
      try store.add(Book())
      try store.commitAsyncWrite(allowGrouping: true) { error in if error == nil { durable.fire() } }
    }
    other.refresh()
    let seen = other.objects(Book.self).count
    await durable.wait(count: count)
    return (seen, store.syncCount - before)
  }

  func beginAndForget() throws {
    let store = try opened()
    try store.beginAsyncWrite { try store.commitWrite() }
    self.store = nil
  }
}
