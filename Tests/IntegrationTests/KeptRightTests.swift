import Dispatch
import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// The right to write is kept while observers are told of what came before a write.
@Suite struct KeptRightTests {
  @Test(arguments: Engine.allCases) func anObserverMayWriteThroughAnotherStoreOfTheThread(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    // Waiting for one's own caller would end with an error here, and never without a timeout.
    configuration.writeTimeout = .seconds(600)
    let plain = configuration
    let interruption = Interruption {
      let somebody = try Store(plain)
      try somebody.write { try somebody.add(Author(name: "somebody")) }
    }
    let wrapper = Mutex<InterruptedEngine?>(nil)
    configuration.backend = ForwardingBackend(plain.backend) { engine in
      wrapper.withLock { known in
        let wrapped = known ?? InterruptedEngine(engine, interruption)
        known = wrapped
        return wrapped
      }
    }
    let (store, other) = (try Store(configuration), try Store(configuration))
    var told = 0
    let token = store.observe { _, _ in
      told += 1
      if told == 1 { #expect(throws: Never.self) { try other.write { try other.add(Author(name: "observer")) } } }
    }
    interruption.arm()
    try store.write { try store.add(Author(name: "mine")) }
    #expect(store.objects(Author.self).map(\.name) == ["somebody", "observer", "mine"])
    token.stop()
  }

  @Test(arguments: Engine.allCases) func aWriteInsideAnotherStoresIsRefusedAndNotWaitedFor(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.writeTimeout = .seconds(600)
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write {
      try store.add(Author(name: "outer"))
      #expect { try other.write {} } throws: { StoreError.Code.alreadyInWrite ~= $0 }
      _ = store.readOnly {
        #expect { try other.beginWrite() } throws: { StoreError.Code.alreadyInWrite ~= $0 }
      }
      try store.commitWrite()
      // Nothing is open any more.
      try other.write { try other.add(Author(name: "inner")) }
    }
    try other.write { try other.add(Author(name: "later")) }
    #expect(other.objects(Author.self).map(\.name) == ["outer", "inner", "later"])
  }

  @Test(arguments: Engine.allCases) func aWriteBesideAnotherOpenOneOfTheThreadIsRefusedAndNotWaitedFor(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (store, other) = (try Store(configuration, isolation: nil), try Store(configuration, isolation: nil))
    try store.beginWrite()
    try store.add(Author(name: "first"))
    #expect { try other.beginWrite() } throws: { StoreError.Code.alreadyInWrite ~= $0 }
    #expect { try other.write {} } throws: { StoreError.Code.alreadyInWrite ~= $0 }
    #expect(!other.isInWriteTransaction)
    try store.commitWrite()
    try other.write { try other.add(Author(name: "second")) }
    try store.beginWrite()
    store.cancelWrite()
    try other.beginWrite()
    other.cancelWrite()
    // One that goes with its write open leaves nothing to wait for.
    do {
      let brief = try Store(configuration, isolation: nil)
      try brief.beginWrite()
    }
    try other.write { try other.add(Author(name: "third")) }
    #expect(other.objects(Author.self).map(\.name) == ["first", "second", "third"])
  }

  @Test func aWriteBesideAnotherOpenOneOfTheQueueIsRefusedOnEveryThreadOfIt() throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let queue = DispatchQueue(label: "test.context")
    let stores = try queue.sync { [try Store(configuration, queue: queue), try Store(configuration, queue: queue)] }
    try queue.sync { try stores[0].beginWrite() }
    try queue.sync {
      try stores[0].add(Author(name: "first"))
      #expect { try stores[1].beginWrite() } throws: { StoreError.Code.alreadyInWrite ~= $0 }
      try stores[0].commitWrite()
      try stores[1].write { try stores[1].add(Author(name: "second")) }
      #expect(stores[1].objects(Author.self).count == 2)
    }
  }

  /// The store's own asynchronous write waits for the open one already, and the store would wait for that.
  @Test func soIsOneThatWouldWaitForAnAsynchronousWriteBehindIt() throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let queue = DispatchQueue(label: "test.context")
    let done = Signal()
    let stores = try queue.sync { [try Store(configuration, queue: queue), try Store(configuration, queue: queue)] }
    try queue.sync {
      try stores[0].beginWrite()
      try stores[1].beginAsyncWrite {
        try stores[1].add(Author(name: "later"))
        try stores[1].commitWrite()
        done.fire()
      }
      for store in stores { #expect { try store.beginWrite() } throws: { StoreError.Code.alreadyInWrite ~= $0 } }
      try stores[0].commitWrite()
    }
    #expect(done.wait { done.count == 1 })
    queue.sync { #expect(stores[1].objects(Author.self).map(\.name) == ["later"]) }
  }

  /// Another context's open write is waited for: it ends by itself.
  @Test func aWriteWaitsForThatOfAnotherThread() throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration, isolation: nil)
    let (begun, asked) = (Signal(), Signal())
    Thread {
      do {
        let other = try Store(configuration, isolation: nil)
        try other.beginWrite()
        begun.fire()
        _ = asked.wait()
        try other.add(Author(name: "first"))
        try other.commitWrite()
      } catch { Issue.record(error) }
    }.start()
    #expect(begun.wait())
    asked.fire()
    try store.write { try store.add(Author(name: "second")) }
    #expect(store.objects(Author.self).map(\.name) == ["first", "second"])
  }

  @Test(arguments: Engine.allCases) func aStoreTakesOverTheRightThatAnotherOfItsContextAwaits(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.writeTimeout = .seconds(600)
    let (queue, done) = (DispatchQueue(label: "test.context"), Signal())
    // A store in memory ends with its last reader.
    let reader = try Store(configuration)
    for _ in 0..<20 {
      try queue.sync {
        let (first, second) = (try Store(configuration, queue: queue), try Store(configuration, queue: queue))
        try first.beginAsyncWrite {
          try first.add(Author(name: "\(first.objects(Author.self).count)"))
          try first.commitWrite()
          done.fire()
        }
        try second.write { try second.add(Author(name: "\(second.objects(Author.self).count)")) }
        try second.write { try second.add(Author(name: "\(second.objects(Author.self).count)")) }
      }
      #expect(done.wait())
    }
    reader.refresh()
    let names = reader.objects(Author.self).map(\.name)
    #expect(names.count == 60, "\(names)")
  }

  @Test func aTaskIsNotSuspendedForTheWriteThatItHasOpen() async throws {
    let (configuration, directory) = Engine.memory.place()
    defer { withExtendedLifetime(directory) {} }
    #expect(await Holder().codeOfAWriteInside(configuration) == .alreadyInWrite)
  }

  private actor Holder {
    func codeOfAWriteInside(_ configuration: Store.Configuration) async -> StoreError.Code? {
      do {
        let store = try Store(configuration)
        try store.beginWrite()
        defer { store.cancelWrite() }
        try await store.write { store in try store.add(Author(name: "inner")) }
        return nil
      } catch {
        return (error as? StoreError)?.code
      }
    }
  }
}

/// What somebody else does between a store's last look and its right to write. Once.
private final class Interruption: Sendable {
  private let isArmed = Mutex(false)
  private let body: @Sendable () throws -> Void

  init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }

  func arm() { isArmed.withLock { $0 = true } }

  func happen() {
    let isDue = isArmed.withLock { armed in
      defer { armed = false }
      return armed
    }
    if isDue { do { try body() } catch { Issue.record(error) } }
  }
}

private final class InterruptedEngine: EngineInFront {
  let base: any StorageEngine
  private let interruption: Interruption

  init(_ base: any StorageEngine, _ interruption: Interruption) {
    self.base = base
    self.interruption = interruption
  }

  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    interruption.happen()
    return try base.beginWrite(deadline)
  }
}
