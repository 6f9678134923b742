import Foundation
import ServerStoreForwarding
import StorageMemory
import StoreMessages
import SyncClient
import SyncEvents
import SyncModel
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What a device asks.
@Model final class Question: Message {
  @PrimaryKey var id = UUID()
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt = Date()
  var updatedAt = Date()

  var text = ""
  var answer: String?
  /// How often it was answered.
  var answers = 0

  init(text: String) { self.text = text }
}

private struct Refused: Error, CustomStringConvertible {
  let description = "It is not known."
}

extension Shop {
  /// A device with questions.
  func phone(_ user: String = "ann", path: String = Shop.path) throws -> Store {
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Question.self, Invoice.self]
    configuration.sync = SyncConfiguration(user: FixedToken(user), path: path, connector: HostConnector(host: host))
    return try Store(configuration)
  }

  fileprivate func answering(_ stores: (any SyncServerStore)? = nil, lease: Duration = .seconds(3_600)) -> ServerEvents {
    var options = ServerEvents.Options()
    (options.firstDelay, options.longestDelay, options.pause) = (.milliseconds(1), .milliseconds(4), .milliseconds(2))
    options.lease = lease
    return ServerEvents(stores ?? self.stores, models: Question.self, Invoice.self, options: options)
  }
}

extension Store {
  @MainActor func ask(_ texts: String...) async throws {
    try await send { for text in texts { _ = try create(Question.self, value: ["text": text]) } }
  }

  /// Each question with what became of it.
  @MainActor var dialogue: [String] {
    objects(Question.self).map { "\($0.text): \($0.status) \($0.answer ?? $0.statusMessage ?? "-") \($0.answers)" }.sorted()
  }
}

/// Objects as messages over sync: devices ask, a process of the server answers.
@MainActor @Suite(.timeLimit(.minutes(15))) struct AnswerTests {
  private nonisolated static func reply(to question: Question, in store: Store) throws {
    question.answer = "to \(question.text)"
    question.increment(\.answers)
    _ = try store.create(Invoice.self, value: ["order": question.text, "count": 1])
  }

  @Test func aPhoneAsksAndAProcessOfTheServerAnswersInTheSameObject() async throws {
    let shop = Shop()
    let (phone, calls) = (try shop.phone(), Calls())
    let events = shop.answering()
    try await events.answer(store: "/shared/*", Question.self, named: "answers") { question, change, store in
      calls.note("\(change.author) \(change.store) \(question.text)")
      try AnswerTests.reply(to: question, in: store)
    }
    let running = RunningEvents(events)
    // Its sender waits for it as for an answer of another process of the machine.
    let question = try await phone.send(Question(text: "tea"), timeout: .seconds(200))
    #expect(question.status == .success && question.answer == "to tea" && question.answers == 1)
    await running.end()
    #expect(calls.all == ["ann /shared/shop tea"])
  }

  @Test func messagesFromBeforeTheNamesFirstRunAreAnsweredOnceToo() async throws {
    let shop = Shop()
    let phone = try shop.phone()
    try await phone.ask("old", "older")
    for _ in 0..<3 {
      let events = shop.answering()
      try await events.answer(store: Shop.path, Question.self, named: "answers") { question, _, store in
        try AnswerTests.reply(to: question, in: store)
      }
      let running = RunningEvents(events)
      try await running.caughtUp(shop, handler: "answers")
      await running.end()
    }
    try await phone.received()
    #expect(phone.dialogue == ["old: success to old 1", "older: success to older 1"])
    #expect(phone.objects(Invoice.self).count == 2)
  }

  @Test func aMessageThatFailsIsTriedAgainAndInTheEndADeadLetter() async throws {
    let shop = Shop()
    let (phone, calls) = (try shop.phone(), Calls())
    let events = shop.answering()
    try await events.answer(store: Shop.path, Question.self, named: "answers", attemptsMax: 3) { question, change, store in
      calls.note("\(question.text)")
      try AnswerTests.reply(to: question, in: store)
      if question.text == "never" || calls.all.count < 2 { throw Refused() }
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop, handler: "answers")
    for text in ["late", "never", "fine"] { try await phone.ask(text) }
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    try await phone.received()
    #expect(phone.dialogue == ["fine: success to fine 1", "late: success to late 1", "never: error It is not known. 0"])
    #expect(calls.all == ["late", "late", "never", "never", "never", "fine"])
    #expect(phone.objects(Invoice.self).count == 2)
  }

  /// They are answered in one write, so that one that fails undoes what became of the others.
  @Test func messagesOfOneTransactionAreDeadLettersAfterAttemptsOfTheirOwn() async throws {
    let shop = Shop()
    let (phone, calls) = (try shop.phone(), Calls())
    let events = shop.answering()
    try await events.answer(store: Shop.path, Question.self, named: "answers", attemptsMax: 3) { question, _, store in
      calls.note(question.text)
      try AnswerTests.reply(to: question, in: store)
      if question.text != "fine" { throw Refused() }
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop, handler: "answers")
    try await phone.ask("never", "fine", "neither")
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    try await phone.received()
    #expect(
      phone.dialogue == ["fine: success to fine 1", "neither: error It is not known. 0", "never: error It is not known. 0"])
    #expect(calls.all.filter { $0 == "never" }.count == 3 && calls.all.filter { $0 == "neither" }.count == 3)
    #expect(phone.objects(Invoice.self).count == 1)
  }

  @Test func anAnswerThatTheHandlerSetsStaysAndAMessageMayBeAskedAgainOrTakenAway() async throws {
    let shop = Shop()
    let phone = try shop.phone()
    let events = shop.answering()
    try await events.answer(store: Shop.path, Question.self, named: "answers") { question, _, store in
      question.increment(\.answers)
      if question.text == "nothing" { return try store.delete(question) }
      if question.answers == 1 { question.fail(code: 7, message: "Not yet.") }
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop, handler: "answers")
    try await phone.ask("again", "nothing")
    try await running.caughtUp(shop, handler: "answers")
    try await phone.received()
    #expect(phone.dialogue == ["again: error Not yet. 1"])
    try await phone.send { phone.objects(Question.self).first?.status = .notProcessed }
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    try await phone.received()
    #expect(phone.objects(Question.self).map(\.status) == [.success] && phone.objects(Question.self).map(\.answers) == [2])
  }

  /// A holder that waits for its next attempt keeps what it has found. Another one answers that meanwhile, and moves no cursor.
  @Test func whatAnotherHolderAnsweredMeanwhileIsNotAnsweredAgain() async throws {
    let shop = Shop()
    let phone = try shop.phone()
    try await phone.ask("old")
    let question = try #require(phone.objects(Question.self).first)
    let start = Int64(Date().timeIntervalSince1970 * 1000)
    let clock = Mutex(start)
    func answering(_ called: AsyncSignal, fails: @escaping @Sendable (Int64) -> Bool) async throws -> RunningEvents {
      var options = ServerEvents.Options()
      (options.firstDelay, options.longestDelay, options.pause) = (.seconds(100), .seconds(100), .milliseconds(2))
      options.lease = .seconds(10)
      let events = ServerEvents(
        FaultyStores(shop.stores, nil, hearsNews: false), models: Question.self, Invoice.self, options: options,
        clock: { clock.withLock { $0 } })
      try await events.answer(store: Shop.path, Question.self, named: "answers") { question, _, store in
        called.fire()
        if fails(clock.withLock { $0 }) { throw Refused() }
        try AnswerTests.reply(to: question, in: store)
      }
      return RunningEvents(events)
    }
    let called = AsyncSignal()
    let patient = try await answering(called) { $0 < start + 200_000 }
    await called.wait()
    // Its lease is over, and its pause is not.
    clock.withLock { $0 += 20_000 }
    let other = try await answering(AsyncSignal()) { _ in false }
    try await phone.send(question, timeout: .seconds(200))
    await other.end()
    clock.withLock { $0 += 200_000 }
    try await patient.caughtUp(shop, handler: "answers")
    await patient.end()
    try await phone.received()
    #expect(phone.dialogue == ["old: success to old 1"])
  }

  @Test func eachMessageIsAnsweredOnceWhateverEndsInBetween() async throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<4 {
      let shop = Shop()
      let phone = try shop.phone()
      func answering(_ stores: any SyncServerStore, lease: Duration = .milliseconds(40)) async throws -> ServerEvents {
        let events = shop.answering(stores, lease: lease)
        try await events.answer(store: Shop.path, Question.self, named: "answers") { question, _, store in
          try AnswerTests.reply(to: question, in: store)
        }
        return events
      }
      var asked = 0
      for _ in 0..<8 {
        for _ in 0..<random.below(4) {
          try phone.write { _ = try phone.create(Question.self, value: ["text": "\(asked)"]) }
          asked += 1
        }
        try await phone.sync?.uploaded()
        let faulty = FaultyStores(shop.stores, SeededGenerator(seed: random.next()))
        let task = Task { [events = try await answering(faulty)] in await events.run() }
        // Somewhere within what it does with them.
        for _ in 0..<random.below(400) { await Task.yield() }
        task.cancel()
        if random.oneIn(2) { await task.value }
      }
      let running = RunningEvents(try await answering(shop.stores, lease: .seconds(3_600)))
      try await running.caughtUp(shop, handler: "answers")
      await running.end()
      try await phone.received()
      #expect(phone.dialogue == (0..<asked).map { "\($0): success to \($0) 1" }.sorted())
      #expect(phone.objects(Invoice.self).count == asked)
    }
  }

  @Test func aWorkOutsideTheStoreIsKnownByItsKey() async throws {
    let shop = Shop()
    let (phone, calls) = (try shop.phone(), Calls())
    try await phone.ask("old")
    let events = shop.answering()
    try await events.answer(store: Shop.path, Question.self, named: "answers", attemptsMax: 2, outside: { change in
      calls.note(change.idempotencyKey)
      if calls.all.count == 1 || change.new?.text == "never" { throw Refused() }
      return { question, store in try AnswerTests.reply(to: question, in: store) }
    })
    let running = RunningEvents(events)
    try await running.caughtUp(shop, handler: "answers")
    try await phone.ask("never")
    try await running.caughtUp(shop, handler: "answers")
    await running.end()
    try await phone.received()
    #expect(phone.dialogue == ["never: error It is not known. 0", "old: success to old 1"])
    #expect(calls.all.count == 4 && Set(calls.all).count == 2, "\(calls.all)")
  }

  @Test func aDeviceDoesNotHandleReplicatedMessagesUnlessItIsTheOnlyOne() async throws {
    let shop = Shop()
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Question.self, Invoice.self, MessageReceipt.self]
    configuration.sync = SyncConfiguration(user: FixedToken("bot"), path: Shop.path, connector: HostConnector(host: shop.host))
    let error = #expect(throws: StoreError.self) {
      try MessageHandler.handle(Question.self, named: "answers", in: configuration) { try AnswerTests.reply(to: $0, in: $1) }
    }
    #expect(error?.code == .replicatedMessage && error?.remedy?.contains("ServerEvents.answer") == true)
    // One file that says that it is the only one: its receipts and what is sent are one transaction.
    var rules = HandlingRules()
    rules.isAlone = true
    let bot = try Store(configuration)
    let handler = try MessageHandler.handle(Question.self, named: "answers", in: configuration, rules: rules) {
      try AnswerTests.reply(to: $0, in: $1)
    }
    let phone = try shop.phone()
    let question = try await phone.send(Question(text: "tea"), timeout: .seconds(200))
    #expect(question.answer == "to tea" && question.answers == 1)
    handler.stop()
    await bot.sync?.stop()
    // Messages that stay on the device are its own.
    configuration.sync = SyncConfiguration(
      user: FixedToken("bot"), path: Shop.path, connector: HostConnector(host: shop.host), localTypes: [Question.self])
    var own = Store.Configuration.memory(UUID().uuidString)
    (own.models, own.sync) = (configuration.models, configuration.sync)
    try MessageHandler.handle(Question.self, named: "answers", in: own) { try AnswerTests.reply(to: $0, in: $1) }.stop()
  }
}
