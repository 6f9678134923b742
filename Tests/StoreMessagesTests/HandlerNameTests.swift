import Dispatch
import Foundation
import MessageSamples
import StorageMemory
import StoreMessages
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Each name deals with each message, once.
@Suite struct HandlerNameTests {
  private struct Refusal: Error {}

  private let configuration = Store.Configuration.memory(models: Work.self, Effect.self, MessageReceipt.self)

  /// What a name did: one effect for each message, a hundred apart by name.
  private func mark(_ name: Int, _ work: Work, in store: Store) throws {
    let number = name * 100 + work.number
    let known = store.object(Effect.self, forPrimaryKey: number)
    let effect = known ?? Effect(number: number)
    if known == nil { try store.add(effect) }
    effect.times += 1
  }

  private func handle(_ name: Int, _ rules: HandlingRules = HandlingRules(), answers: Bool = false) throws -> MessageHandler {
    try MessageHandler.handle(Work.self, named: "\(name)", in: configuration, rules: rules) { work, store in
      try mark(name, work, in: store)
      if answers { work.succeed(code: name) }
    }
  }

  private func wait(until condition: @escaping (Store) -> Bool) throws {
    let changed = Signal()
    let queue = DispatchQueue(label: "names")
    let watcher = try queue.sync { try Watcher(configuration, queue, changed) }
    let store = try Store(configuration, isolation: nil)
    #expect(
      changed.wait {
        store.refresh()
        return condition(store)
      })
    queue.sync { watcher.end() }
  }

  private func send(_ numbers: Range<Int>) throws {
    let store = try Store(configuration, isolation: nil)
    try store.write { for number in numbers { try store.add(Work(number: number)) } }
  }

  /// The effects that each name had, and how often.
  private func effects(_ keeper: Store) -> [Int: Int] {
    keeper.refresh()
    return Dictionary(uniqueKeysWithValues: keeper.objects(Effect.self).map { ($0.number, $0.times) })
  }

  private func expected(_ names: [Int], _ numbers: Range<Int>) -> [Int: Int] {
    Dictionary(uniqueKeysWithValues: names.flatMap { name in numbers.map { (name * 100 + $0, 1) } })
  }

  @Test(arguments: [false, true]) func everyNameDealsWithEveryMessageOnce(answers: Bool) throws {
    let keeper = try Store(configuration, isolation: nil)
    let handlers = try [1, 2, 3].map { try handle($0, answers: answers && $0 != 2) }
    try send(0..<20)
    try wait { $0.objects(Effect.self).count == 60 && Samples.pendingCount($0) == 0 }
    for handler in handlers { handler.stop() }
    #expect(effects(keeper) == expected([1, 2, 3], 0..<20))
    #expect(keeper.objects(Work.self).allSatisfy { $0.status == .success && ($0.statusCode != nil) == answers })
    #expect(keeper.objects(MessageReceipt.self).allSatisfy { $0.owed == "" })
  }

  @Test(arguments: [false, true]) func aNameThatDoesNotRunMissesNothing(answers: Bool) throws {
    let keeper = try Store(configuration, isolation: nil)
    // It runs once, and is known from then on.
    try handle(2).stop()
    let first = try handle(1, answers: answers)
    try send(0..<5)
    try wait { $0.objects(Effect.self).count == 5 }
    first.stop()
    keeper.refresh()
    // Without an answer it waits for the other name; with one, whoever sent it knows already.
    #expect(keeper.objects(Work.self).allSatisfy { ($0.status == .success) == answers })
    let second = try handle(2)
    try wait { $0.objects(Effect.self).count == 10 && Samples.pendingCount($0) == 0 }
    second.stop()
    #expect(effects(keeper) == expected([1, 2], 0..<5))
  }

  @Test func aDeadLetterOfOneNameIsStillTheOthers() throws {
    let keeper = try Store(configuration, isolation: nil)
    var rules = HandlingRules()
    rules.attemptsMax = 1
    let failing = try MessageHandler.handle(Work.self, named: "1", in: configuration, rules: rules) { _, _ in throw Refusal() }
    try send(0..<3)
    try wait { Samples.pendingCount($0) == 0 }
    try handle(2).stop()
    try send(3..<6)
    try wait { Samples.pendingCount($0) == 0 }
    let other = try handle(2)
    try wait { $0.objects(Effect.self).count == 3 }
    for handler in [failing, other] { handler.stop() }
    // What was settled before the name was known is not asked of it.
    #expect(effects(keeper) == expected([2], 3..<6))
    #expect(keeper.objects(Work.self).allSatisfy { $0.status == .error && $0.statusMessage == "Refusal()" })
  }

  @Test func nobodyWaitsForANameThatIsForgotten() throws {
    let keeper = try Store(configuration, isolation: nil)
    try handle(2).stop()
    let first = try handle(1)
    try send(0..<4)
    try wait { $0.objects(Effect.self).count == 4 }
    keeper.refresh()
    #expect(Samples.pendingCount(keeper) == 4)
    try MessageHandler.forget(Work.self, named: "2", in: configuration)
    keeper.refresh()
    #expect(Samples.pendingCount(keeper) == 0)
    try send(4..<6)
    try wait { $0.objects(Effect.self).count == 6 && Samples.pendingCount($0) == 0 }
    first.stop()
    #expect(effects(keeper) == expected([1], 0..<6))
  }

  @Test func aMessageThatANameStillOwesOutlivesItsRetention() throws {
    let keeper = try Store(configuration, isolation: nil)
    try handle(2).stop()
    var rules = HandlingRules()
    rules.retention = .init(count: 0)
    let first = try handle(1, rules, answers: true)
    try send(0..<3)
    try wait { $0.objects(Effect.self).count == 3 }
    keeper.refresh()
    #expect(keeper.objects(Work.self).count == 3)
    let second = try handle(2, rules)
    try wait { $0.objects(Effect.self).count == 6 && $0.objects(Work.self).isEmpty }
    for handler in [first, second] { handler.stop() }
    #expect(effects(keeper) == expected([1, 2], 0..<3))
  }

  @Test func whatANameOwesIsNotLookedAtWithEachMessageAndGoesOnceItIsDone() throws {
    let keeper = try Store(configuration, isolation: nil)
    try handle(9).stop()
    var rules = HandlingRules()
    rules.retention = .init(count: 10)
    let queries = Mutex(0)
    let first = try MessageHandler.handle(Work.self, named: "1", in: configuration, rules: rules) { work, store in
      try mark(1, work, in: store)
      work.succeed()
      let count = store.evaluationCount
      queries.withLock { $0 = count }
    }
    try send(0..<500)
    try wait { Samples.pendingCount($0) == 0 }
    keeper.refresh()
    #expect(keeper.objects(Work.self).count == 500)
    // A look at all that is too many, with each message, would be more than a hundred thousand.
    #expect(queries.withLock { $0 } < 50_000)
    let second = try handle(9, rules)
    try wait { $0.objects(Effect.self).count == 1_000 && $0.objects(Work.self).count <= 11 }
    for handler in [first, second] { handler.stop() }
    #expect(effects(keeper) == expected([1, 9], 0..<500))
  }
}
