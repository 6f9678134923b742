import Dispatch
import Foundation
import MessageSamples
import StorageMemory
import StoreMessages
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

private struct Refusal: Error {}

@Suite struct HandlerTests {
  private func makeConfiguration() -> Store.Configuration {
    var configuration = Store.Configuration.memory(models: Work.self, Effect.self, MessageReceipt.self)
    configuration.manualDelivery = true
    return configuration
  }

  /// Waits, without a clock of its own, until the store says so.
  private func wait(
    _ configuration: Store.Configuration, _ changed: Signal, until condition: @escaping (Store) -> Bool
  ) throws -> Bool {
    let store = try Store(configuration, isolation: nil)
    return changed.wait {
      store.refresh()
      return condition(store)
    }
  }

  /// Fires after every commit.
  private func watch(_ configuration: Store.Configuration, _ changed: Signal) throws -> (DispatchQueue, Watcher) {
    let queue = DispatchQueue(label: "watch")
    return (queue, try queue.sync { try Watcher(configuration, queue, changed) })
  }

  private func send(_ configuration: Store.Configuration, _ works: @autoclosure () -> [Work]) throws {
    let store = try Store(configuration, isolation: nil)
    try store.write { try store.add(works()) }
  }

  /// Those of messages, not of handlers.
  private func receipts(_ store: Store) -> Results<MessageReceipt> { store.objects(MessageReceipt.self).where { $0.message != "" } }

  @Test func messagesThatAreThereAndThatComeAreDone() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    try send(configuration, [Work(number: 1)])
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration) { try Samples.perform($0, in: $1) }
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    try send(configuration, [Work(number: 2), Work(number: 3)])
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 && $0.objects(Effect.self).count == 3 })
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.objects(Work.self).allSatisfy { $0.status == .success && $0.answer == $0.number * 2 })
    #expect(receipts(keeper).allSatisfy { $0.state == .done && $0.attempts == 1 })
  }

  /// A clock that was years ahead has written a time that does not come.
  @Test func aMessageDoesNotWaitForATimeThatAClockAheadHasWritten() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    var rules = HandlingRules()
    rules.retryDelay = { _ in .seconds(10 * 365 * 86_400) }
    try send(configuration, [Work(number: 1)])
    let ahead = try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { _, _ in throw Refusal() }
    #expect(try wait(configuration, changed) { self.receipts($0).contains { $0.notBefore > Date(timeIntervalSinceNow: 86_400) } })
    ahead.stop()
    rules.retryDelay = { _ in .milliseconds(10) }
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { try Samples.perform($0, in: $1) }
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.object(Work.self, forPrimaryKey: 1)?.status == .success)
  }

  @Test func aFailureIsUndoneTriedAgainAndInTheEndADeadLetter() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    var rules = HandlingRules()
    rules.attemptsMax = 3
    rules.retryDelay = { _ in .milliseconds(1) }
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { work, store in
      try Samples.perform(work, in: store)
      if work.number == 1 { throw Refusal() }
    }
    try send(configuration, [Work(number: 1), Work(number: 2)])
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.object(Work.self, forPrimaryKey: 1)?.status == .error)
    #expect(keeper.object(Work.self, forPrimaryKey: 1)?.statusMessage == "Refusal()")
    #expect(keeper.objects(Effect.self).map(\.number) == [2])
    #expect(keeper.objects(MessageReceipt.self).where { $0.state == MessageReceipt.State.dead }.map(\.attempts) == [3])
  }

  @Test func aFailedMessageHoldsBackThoseAfterItWithItsKeyAlone() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    let handled = Mutex<Set<Int>>([])
    var rules = HandlingRules()
    // As often as it takes: the first fails until those of other keys are through, however slow the machine.
    rules.attemptsMax = 1_000_000
    rules.retryDelay = { _ in .milliseconds(5) }
    let handler = try MessageHandler.handle(
      Work.self, named: "a", in: configuration, rules: rules, orderedBy: { $0.group }
    ) { work, store in
      let fails = handled.withLock { handled in
        handled.insert(work.number)
        return work.number == 1 && !handled.isSuperset(of: [3, 4])
      }
      if fails { throw Refusal() }
      try Samples.perform(work, in: store)
    }
    try send(configuration, [Work(number: 1, group: "x"), Work(number: 2, group: "x"), Work(number: 3, group: "y"), Work(number: 4)])
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    let order = keeper.objects(Effect.self).map(\.number)
    #expect(order == [3, 4, 1, 2])
  }

  @Test func anEndedLeaseGivesTheWorkToAnother() async throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    var rules = HandlingRules()
    rules.lease = .milliseconds(20)
    let (slow, done) = (Signal(), Signal())
    let keys = Mutex<[String]>([])
    let sleeper = try MessageHandler.handle(
      Work.self, named: "a", in: configuration, rules: rules,
      outside: { job in
        keys.withLock { $0.append(job.idempotencyKey) }
        slow.fire()
        await elsewhere { _ = done.wait() }
        return { work, _ in work.answer = -1 }
      })
    try send(configuration, [Work(number: 1)])
    await elsewhere { #expect(slow.wait()) }
    let other = try MessageHandler.handle(
      Work.self, named: "a", in: configuration, rules: rules,
      outside: { job in
        keys.withLock { $0.append(job.idempotencyKey) }
        return { work, store in try Samples.perform(work, in: store) }
      })
    await elsewhere {
      do { #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 }) } catch { Issue.record(error) }
    }
    // What the first one had to say comes too late.
    done.fire()
    sleeper.stop()
    other.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.objects(Work.self).map(\.answer) == [2])
    #expect(Set(keys.withLock { $0 }).count == 1)
  }

  @Test func whatWasDealtWithIsTrimmedByTheRules() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    var rules = HandlingRules()
    rules.retention = .init(count: 3)
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { try Samples.perform($0, in: $1) }
    try send(configuration, (0..<10).map { Work(number: $0) })
    #expect(try wait(configuration, changed) { $0.objects(Effect.self).count == 10 })
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.objects(Work.self).map(\.number) == [7, 8, 9] && receipts(keeper).count == 3)
  }

  @Test func oldMessagesAreTrimmedByTheirAge() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    try keeper.write {
      for number in 1...3 {
        let work = Work(number: number)
        try keeper.add(work)
        work.succeed(at: Date(timeIntervalSince1970: 0))
      }
    }
    var rules = HandlingRules()
    rules.retention = .init(age: .seconds(3_600 * 24 * 365))
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { try Samples.perform($0, in: $1) }
    try send(configuration, [Work(number: 4)])
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.objects(Work.self).map(\.number) == [4])
  }

  @Test func whatWorkOutsideGaveIsWrittenThoughItsHandlerWasStopped() async throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    let (begun, go) = (Signal(), Signal())
    let handler = try MessageHandler.handle(
      Work.self, named: "a", in: configuration,
      outside: { _ in
        begun.fire()
        await elsewhere { _ = go.wait() }
        return { work, store in try Samples.perform(work, in: store) }
      })
    try send(configuration, [Work(number: 1), Work(number: 2)])
    await elsewhere { #expect(begun.wait()) }
    handler.stop()
    go.fire()
    await elsewhere {
      do { #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 1 }) } catch { Issue.record(error) }
      // Its last words: it runs no more.
      do {
        #expect(try wait(configuration, changed) { !$0.objects(MessageReceipt.self).contains { $0.state == .running } })
      } catch { Issue.record(error) }
    }
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.objects(Work.self).map(\.answer) == [2, 0] && receipts(keeper).map(\.attempts) == [1])
  }

  @Test func workThatEndsItsWriteIsAFailureAndIsCounted() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    var rules = HandlingRules()
    rules.attemptsMax = 2
    rules.retryDelay = { _ in .milliseconds(1) }
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { work, store in
      try Samples.perform(work, in: store)
      if work.number == 1 { store.cancelWrite() }
    }
    try send(configuration, [Work(number: 1), Work(number: 2)])
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(keeper.objects(Work.self).map(\.status) == [.error, .success])
    #expect(keeper.objects(Effect.self).map(\.number) == [2] && receipts(keeper).map(\.attempts) == [2, 1])
  }

  @Test func receiptsGoThoughOthersDeleteTheMessages() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration) { work, store in
      // Every tenth is deleted by the handler itself, the others by whoever sent them.
      if work.number % 10 == 0 { try store.delete(work) } else { try Samples.perform(work, in: store) }
    }
    for round in 0..<20 {
      try send(configuration, (round * 10..<round * 10 + 10).map { Work(number: $0) })
      #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
      keeper.refresh()
      try keeper.write { try keeper.delete(keeper.objects(Work.self)) }
    }
    handler.stop()
    queue.sync { watcher.end() }
    keeper.refresh()
    // Of two hundred: no more than came while they were gone through once.
    #expect(receipts(keeper).count <= 40 && keeper.objects(Effect.self).count == 180)
  }

  @Test func aStoreWithoutReceiptsIsRefused() {
    let lists: [[any SchemaDescribing.Type]] = [[Work.self], [MessageReceipt.self]]
    for models in lists {
      var configuration = Store.Configuration.memory(models: Work.self)
      configuration.models = models
      let error = #expect(throws: StoreError.self) {
        _ = try MessageHandler.handle(Work.self, named: "a", in: configuration) { _, _ in }
      }
      #expect(error?.code == .unknownType)
    }
  }

  @Test func handlersOfOneNameInOneProcessKnowThatTheOthersLive() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    var rules = HandlingRules()
    // As often as it takes: nothing is done until all of them have work, and have said that they run.
    rules.attemptsMax = 1_000_000
    rules.retryDelay = { _ in .milliseconds(1) }
    let handlers = try (0..<3).map { _ in
      try MessageHandler.handle(Work.self, named: "a", in: configuration, rules: rules) { work, store in
        if store.objects(MessageReceipt.self).count(where: { $0.state == .running }) < 3 { throw Refusal() }
        try Samples.perform(work, in: store)
      }
    }
    try send(configuration, [Work(number: 1)])
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    for handler in handlers { handler.stop() }
    #expect(try wait(configuration, changed) { !$0.objects(MessageReceipt.self).contains { $0.state == .running } })
    queue.sync { watcher.end() }
    keeper.refresh()
    #expect(receipts(keeper).map(\.state) == [.done] && keeper.object(Work.self, forPrimaryKey: 1)?.status == .success)
  }

  @Test func aHandlerAfterOneThatDiedCountsWhatItBegins() throws {
    let configuration = makeConfiguration()
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    // What a handler leaves that had no time to end.
    try keeper.write {
      try keeper.create(MessageReceipt.self, value: ["id": "a/#running/somebody", "state": MessageReceipt.State.running])
      try keeper.add([Work(number: 1), Work(number: 2)])
    }
    let before = keeper.version.rawValue
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration) { try Samples.perform($0, in: $1) }
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    try send(configuration, [Work(number: 3)])
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 && $0.objects(Work.self).count == 3 })
    keeper.refresh()
    // One for the name, one to say that it runs, two for each that waited, one to send, and one for what came later.
    #expect(keeper.version.rawValue == before + 8)
    #expect(receipts(keeper).map(\.attempts) == [1, 1, 1])
    #expect(keeper.objects(MessageReceipt.self).count { $0.state == .running } == 1)
    handler.stop()
    #expect(try wait(configuration, changed) { !$0.objects(MessageReceipt.self).contains { $0.state == .running } })
    queue.sync { watcher.end() }
  }

  @Test func aHandlerThatDiedIsFoundByTheNextOneOfItsTypeAndNotByItsNamesake() throws {
    var configuration = Store.Configuration.memory(models: Work.self, Errand.self, Effect.self, MessageReceipt.self)
    configuration.manualDelivery = true
    let (changed, keeper) = (Signal(), try Store(configuration, isolation: nil))
    let (queue, watcher) = try watch(configuration, changed)
    let died = "a/#running/Work/somebody"
    try keeper.write {
      try keeper.create(MessageReceipt.self, value: ["id": died, "state": MessageReceipt.State.running])
      try keeper.add([Work(number: 1), Work(number: 2)])
      try keeper.add(Errand(number: 1))
    }
    let namesake = try MessageHandler.handle(Errand.self, named: "a", in: configuration) { _, _ in }
    #expect(try wait(configuration, changed) { $0.object(Errand.self, forPrimaryKey: 1)?.status == .success })
    namesake.stop()
    #expect(try wait(configuration, changed) { $0.objects(MessageReceipt.self).count(where: { $0.state == .running }) < 2 })
    keeper.refresh()
    #expect(keeper.object(MessageReceipt.self, forPrimaryKey: died) != nil)
    let before = keeper.version.rawValue
    let handler = try MessageHandler.handle(Work.self, named: "a", in: configuration) { try Samples.perform($0, in: $1) }
    #expect(try wait(configuration, changed) { Samples.pendingCount($0) == 0 })
    keeper.refresh()
    // One for the name, one to say that it runs, and two for each that waited.
    #expect(keeper.version.rawValue == before + 6)
    #expect(keeper.object(MessageReceipt.self, forPrimaryKey: died) == nil)
    handler.stop()
    queue.sync { watcher.end() }
  }
}

/// A message of another type than `Work`.
@Model final class Errand: Message {
  @PrimaryKey var number: Int
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt: Date = Date()
  var updatedAt: Date = Date()

  init(number: Int) { self.number = number }
}

/// Fires a signal after every commit. Used on its queue alone.
final class Watcher: @unchecked Sendable {
  // Sound because the tests make and end it inside `queue.sync` alone.
  private let store: Store
  private let token: NotificationToken

  init(_ configuration: Store.Configuration, _ queue: DispatchQueue, _ changed: Signal) throws {
    store = try Store(configuration, queue: queue)
    token = store.observe { _, _ in changed.fire() }
  }

  func end() { token.stop() }
}
