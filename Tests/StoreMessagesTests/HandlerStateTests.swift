import Dispatch
import MessageSamples
import StorageInterface
import StorageMemory
import StoreMessages
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A handler that cannot do its work says so to whoever asks, and to whoever listens.
@Suite struct HandlerStateTests {
  private let configuration = Store.Configuration.memory(models: Work.self, Effect.self, MessageReceipt.self)

  private func faulty(_ disk: Disk) -> Store.Configuration {
    var faulty = configuration
    faulty.backend = ForwardingBackend(configuration.backend) { DiskEngine($0, disk) }
    return faulty
  }

  private func handle(_ configuration: Store.Configuration, _ heard: Heard) throws -> MessageHandler {
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration) { try Samples.perform($0, in: $1) }
    handler.onChange { heard.add($0) }
    // What changes before it is asked would be all that it hears.
    #expect(heard.wait { $0 == ["running"] })
    return handler
  }

  private func waitUntilAllIsHandled() throws -> Bool {
    let changed = Signal()
    let queue = DispatchQueue(label: "states")
    let watcher = try queue.sync { try Watcher(configuration, queue, changed) }
    defer { queue.sync { watcher.end() } }
    let store = try Store(configuration, isolation: nil)
    return changed.wait {
      store.refresh()
      return Samples.pendingCount(store) == 0
    }
  }

  @Test func whoCannotWriteSaysSoOnceAndGoesOnWhenItCan() throws {
    let (disk, heard, keeper) = (Disk(), Heard(), try Store(configuration, isolation: nil))
    let handler = try handle(faulty(disk), heard)
    disk.error = StorageError(.outOfDiskSpace, .transaction, "The disk is full.")
    try keeper.write { try keeper.add([Work(number: 1), Work(number: 2)]) }
    #expect(heard.wait { $0.last == "failing: outOfDiskSpace" })
    #expect((handler.error as? StoreError)?.code == .outOfDiskSpace)
    // Every commit is a try, and so is every second; none of them is news.
    let tries = disk.tries.count
    try keeper.write { try keeper.add(Work(number: 3)) }
    #expect(disk.tries.wait { disk.tries.count >= tries + 2 })
    disk.error = nil
    #expect(heard.wait { $0.last == "running" } && handler.error == nil)
    #expect(try waitUntilAllIsHandled())
    handler.stop()
    #expect(heard.wait { $0.last == "ended: stopped" })
    #expect(heard.states == ["running", "failing: outOfDiskSpace", "running", "ended: stopped"])
    #expect(handler.error == nil)
  }

  @Test(arguments: [StorageError.Code.corrupt, .readOnly]) func whoCanNeverWriteAgainEndsAndLeavesTheRestToOthers(
    code: StorageError.Code
  ) throws {
    let (disk, heard, keeper) = (Disk(), Heard(), try Store(configuration, isolation: nil))
    let handler = try handle(faulty(disk), heard)
    disk.error = StorageError(code, .engine, "It is over.")
    try keeper.write { try keeper.add(Work(number: 1)) }
    #expect(heard.wait { $0.last == "ended: \(code.rawValue)" })
    #expect((handler.error as? StoreError)?.code.rawValue == code.rawValue)
    #expect(heard.states == ["running", "ended: \(code.rawValue)"])
    let other = try handle(configuration, Heard())
    #expect(try waitUntilAllIsHandled())
    other.stop()
    // What comes too late to hear of it is told it at once.
    let late = Heard()
    handler.onChange { late.add($0) }
    #expect(late.wait { $0 == ["ended: \(code.rawValue)"] })
    handler.stop()
  }

  @Test func theHandlerOfAnOlderProgramEndsThoughNoMessageComes() throws {
    let (heard, keeper) = (Heard(), try Store(configuration, isolation: nil))
    let handler = try handle(configuration, heard)
    var newer = configuration
    newer.schemaVersion = 1
    newer.migration = { _, _ in }
    _ = try Store(newer, isolation: nil)
    #expect(heard.wait { $0.last == "ended: newerSchema" })
    #expect(heard.states == ["running", "ended: newerSchema"])
    handler.stop()
    withExtendedLifetime(keeper) {}
  }

  /// As after handlers that died in their last attempt.
  @Test func workWithoutAnAttemptLeftIsGivenUpAndSaysWhy() throws {
    let keeper = try Store(configuration, isolation: nil)
    var rules = HandlingRules()
    rules.attemptsMax = 0
    let handler = try MessageHandler.handle(
      Work.self, named: "a", in: configuration, rules: rules, outside: { _ in { _, _ in } })
    try keeper.write { try keeper.add(Work(number: 1)) }
    #expect(try waitUntilAllIsHandled())
    handler.stop()
    keeper.refresh()
    let receipt = try #require(keeper.objects(MessageReceipt.self).where { $0.message != "" }.first)
    #expect(receipt.state == .dead && receipt.lastError?.contains("Nobody finished the work") == true)
    #expect(StoreError.Code.attemptsExhausted.rawValue == "attemptsExhausted")
  }

  /// Its lease would end only after half a minute, and nobody would know why it failed.
  @Test func workOutsideThatEndsItsWriteIsTriedAgainAndItsErrorIsKept() throws {
    let keeper = try Store(configuration, isolation: nil)
    var rules = HandlingRules()
    rules.attemptsMax = 2
    rules.lease = .seconds(100_000)
    rules.retryDelay = { _ in .milliseconds(1) }
    let handler = try MessageHandler.handle(
      Work.self, named: "a", in: configuration, rules: rules, outside: { _ in { _, store in store.cancelWrite() } })
    try keeper.write { try keeper.add(Work(number: 1)) }
    #expect(try waitUntilAllIsHandled())
    handler.stop()
    keeper.refresh()
    let work = try #require(keeper.object(Work.self, forPrimaryKey: 1))
    let receipt = try #require(keeper.objects(MessageReceipt.self).where { $0.message != "" }.first)
    #expect(work.status == .error && receipt.attempts == 2 && receipt.state == .dead)
    #expect(receipt.lastError == work.statusMessage && receipt.lastError?.contains("attemptsExhausted") == false)
  }
}

/// The states that a handler has told.
private final class Heard: Sendable {
  private let told = Mutex<[String]>([])
  private let changed = Signal()

  var states: [String] { told.withLock { $0 } }

  func add(_ state: MessageHandler.State) {
    func name(_ error: any Error) -> String { (error as? StoreError)?.code.rawValue ?? "\(error)" }
    let text = switch state {
    case .running: "running"
    case .failing(let error): "failing: \(name(error))"
    case .ended(let error): "ended: \(error.map(name) ?? "stopped")"
    }
    told.withLock { $0.append(text) }
    changed.fire()
  }

  func wait(_ condition: ([String]) -> Bool) -> Bool { changed.wait { condition(states) } }
}

/// What a write meets, and how often one was tried.
private final class Disk: Sendable {
  private let stored = Mutex<StorageError?>(nil)
  let tries = Signal()

  var error: StorageError? {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}

private final class DiskEngine: EngineInFront {
  let base: any StorageEngine
  private let disk: Disk

  init(_ base: any StorageEngine, _ disk: Disk) { (self.base, self.disk) = (base, disk) }

  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    if let error = disk.error {
      disk.tries.fire()
      throw error
    }
    return try base.beginWrite(deadline)
  }
}
