import Foundation
import StorageMemory
import StoreMessages
import SyncClient
import SyncEvents
import SyncServer
import Synchronization
import Testing
import Vivarium

/// Answered messages over sync do not stay for ever: who answers deletes them, for all.
@MainActor @Suite(.timeLimit(.minutes(15))) struct AnswerRetentionTests {
  /// A clock that a test sets ahead.
  private final class Ahead: Sendable {
    private let milliseconds = Mutex<Int64>(0)

    func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) + milliseconds.withLock { $0 } }
    var date: Date { Date(timeIntervalSince1970: Double(now()) / 1_000) }
    func set(_ seconds: Int64) { milliseconds.withLock { $0 = seconds * 1_000 } }
  }

  private func answering(
    _ shop: Shop, _ retention: HandlingRules.Retention, _ clock: Ahead, _ calls: Calls = Calls()
  ) async throws -> RunningEvents {
    var options = ServerEvents.Options()
    (options.firstDelay, options.longestDelay, options.pause) = (.milliseconds(1), .milliseconds(4), .milliseconds(2))
    let events = ServerEvents(shop.stores, models: Question.self, Invoice.self, options: options, clock: { clock.now() })
    try await events.answer(store: Shop.path, Question.self, named: "answers", retention: retention) { question, _, _ in
      calls.note(question.text)
      if question.text == "bad" { return question.fail(message: "No.", at: clock.date) }
      question.answer = "to \(question.text)"
      question.increment(\.answers)
      question.succeed(at: clock.date)
    }
    return RunningEvents(events)
  }

  @Test func whatWasAnsweredLongAgoIsGoneFromAllDevices() async throws {
    let shop = Shop()
    let clock = Ahead()
    let (phone, tablet) = (try shop.phone(), try shop.phone("bob"))
    let running = try await answering(shop, .init(age: .seconds(210)), clock)
    try await running.caughtUp(shop, handler: "answers")
    try await phone.ask("old", "bad")
    try await running.caughtUp(shop, handler: "answers")
    // Not yet: they are not old enough, though the store is looked through.
    clock.set(140)
    try await phone.ask("middle")
    try await running.caughtUp(shop, handler: "answers")
    try await tablet.received()
    #expect(tablet.dialogue == ["bad: error No. 0", "middle: success to middle 1", "old: success to old 1"])
    clock.set(280)
    try await tablet.ask("new")
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    for device in [phone, tablet] {
      try await device.received()
      #expect(device.dialogue == ["middle: success to middle 1", "new: success to new 1"])
    }
  }

  @Test func ofManyAnsweredMessagesTheNewestStay() async throws {
    let shop = Shop()
    let clock = Ahead()
    let phone = try shop.phone()
    let running = try await answering(shop, .init(count: 2), clock)
    try await running.caughtUp(shop, handler: "answers")
    for text in ["a", "b", "c"] { try await phone.ask(text) }
    try await running.caughtUp(shop, handler: "answers")
    try await phone.received()
    // Once a minute at most, so that a message does not cost a look at all of them.
    #expect(phone.objects(Question.self).count == 3)
    clock.set(61)
    try await phone.ask("d")
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    try await phone.received()
    #expect(phone.dialogue == ["c: success to c 1", "d: success to d 1"])
  }

  /// An answer that the server does not take is made again, and so is what it deletes: nothing may put that off by a minute.
  @Test func whatWasDeletedWithAnAnswerThatWasUndoneIsDeletedWithTheNext() async throws {
    let isFailing = Atomic(false)
    let shop = Shop(
      FaultyStores(MemoryServerStore(), nil, willWrite: { () throws(ServerStoreError) in
        if isFailing.exchange(false, ordering: .relaxed) { throw ServerStoreError(.unavailable, "It is not in reach.") }
      }))
    let clock = Ahead()
    let phone = try shop.phone()
    let running = try await answering(shop, .init(count: 1), clock)
    try await running.caughtUp(shop, handler: "answers")
    for text in ["a", "b"] { try await phone.ask(text) }
    try await running.caughtUp(shop, handler: "answers")
    clock.set(61)
    isFailing.store(true, ordering: .relaxed)
    try await phone.ask("c")
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    try await phone.received()
    let hasFailed = !isFailing.load(ordering: .relaxed)
    #expect(hasFailed)
    #expect(phone.dialogue == ["c: success to c 1"])
  }

  /// A device that was away takes an old message away, another asks one again, and the server deletes both meanwhile.
  @Test func aDeletionMeetsWhatDevicesDoToTheSameMessages() async throws {
    let shop = Shop()
    let (clock, calls) = (Ahead(), Calls())
    let (phone, tablet) = (try shop.phone(), try shop.phone("bob"))
    let running = try await answering(shop, .init(age: .seconds(30)), clock, calls)
    try await running.caughtUp(shop, handler: "answers")
    try await phone.ask("old", "older")
    try await running.caughtUp(shop, handler: "answers")
    try await tablet.received()
    await tablet.sync?.stop()
    try tablet.write {
      for question in tablet.objects(Question.self).toArray() {
        if question.text == "old" { try tablet.delete(question) } else { question.status = .notProcessed }
      }
    }
    clock.set(70)
    try await phone.ask("new")
    try await running.caughtUp(shop, handler: "answers")
    await tablet.sync?.start()
    try await tablet.sync?.uploaded()
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    for device in [phone, tablet] {
      try await device.received()
      #expect(device.dialogue == ["new: success to new 1"])
    }
    #expect(calls.all.sorted() == ["new", "old", "older"])
  }

  /// The one replica that has the handler deletes, and its receipts, which are nobody else's, go with the messages.
  @Test func theOnlyReplicaWithAHandlerDeletesForTheOthers() async throws {
    let shop = Shop()
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Question.self, Invoice.self, MessageReceipt.self]
    configuration.sync = SyncConfiguration(user: FixedToken("bot"), path: Shop.path, connector: HostConnector(host: shop.host))
    var rules = HandlingRules()
    rules.isAlone = true
    rules.retention = .init(count: 1)
    let bot = try Store(configuration)
    let handler = try MessageHandler.handle(Question.self, named: "answers", in: configuration, rules: rules) { question, _ in
      question.answer = "to \(question.text)"
      question.increment(\.answers)
    }
    let phone = try shop.phone()
    for text in ["a", "b", "c"] { try await phone.send(Question(text: text), timeout: .seconds(200)) }
    // An answer and what it makes too much are one transaction.
    #expect(phone.dialogue == ["c: success to c 1"])
    handler.stop()
    bot.refresh()
    #expect(bot.objects(Question.self).count == 1)
    #expect(bot.objects(MessageReceipt.self).filter { $0.message != "" }.count == 1)
    await bot.sync?.stop()
  }
}
