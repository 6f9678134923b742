import Storage
import Synchronization
import TestSupport
import Testing
import Values
import Vivarium

/// The right to write is kept while observers are told of what came before a write.
@Suite struct KeptRightTests {
  @Test(arguments: Engine.allCases) func anObserverMayWriteThroughAnotherStoreOfTheThread(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    // Waiting for one's own caller would end with an error here, and never without a timeout.
    configuration.writeTimeout = .seconds(120)
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

private final class InterruptedEngine: StorageEngine {
  private let base: any StorageEngine
  private let interruption: Interruption

  init(_ base: any StorageEngine, _ interruption: Interruption) {
    self.base = base
    self.interruption = interruption
  }

  var kind: String { base.kind }
  func latestVersion() throws(StorageError) -> Version { try base.latestVersion() }
  func beginRead() throws(StorageError) -> any ReadTransaction { try base.beginRead() }
  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    interruption.happen()
    return try base.beginWrite(deadline)
  }
  func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener {
    try base.addCommitListener(body)
  }
  func statistics() throws(StorageError) -> StorageStatistics { try base.statistics() }
  func close() { base.close() }
}
