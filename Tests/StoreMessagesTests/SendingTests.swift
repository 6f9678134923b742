import MessageSamples
import StorageMemory
import StoreMessages
import Testing
import Vivarium

@Suite @MainActor struct SendingTests {
  private func makeConfiguration() -> Store.Configuration {
    .memory(models: Work.self, Effect.self, MessageReceipt.self)
  }

  @Test func sendingReturnsWhenTheMessageWasDealtWith() async throws {
    let store = try Store(makeConfiguration())
    let handler = try MessageHandler.handle(Work.self, named: "a", in: store.configuration) { try Samples.perform($0, in: $1) }
    let work = try await store.send(Work(number: 21), timeout: .seconds(600))
    #expect(work.answer == 42 && work.status == .success)
    handler.stop()
  }

  @Test func sendingEndsInTimeAndLeavesTheMessage() async throws {
    let store = try Store(makeConfiguration())
    do {
      try await store.send(Work(number: 1), timeout: .milliseconds(1))
      Issue.record("Nobody could have dealt with it.")
    } catch let error as StoreError {
      #expect(error.code == .messageTimeout && Samples.pendingCount(store) == 1)
    }
  }

  @Test func sendingEndsWithItsTaskAndLeavesTheMessage() async throws {
    let store = try Store(makeConfiguration())
    let task = Task { @MainActor in try await store.send(Work(number: 1)).answer }
    task.cancel()
    do {
      _ = try await task.value
      Issue.record("Nobody could have dealt with it.")
    } catch let error as StoreError {
      #expect(error.code == .cancelled && Samples.pendingCount(store) == 1)
    }
  }

  @Test func sendingEndsWhenTheMessageIsDeleted() async throws {
    let store = try Store(makeConfiguration())
    let configuration = store.configuration
    let task = Task { @MainActor in try await store.send(Work(number: 1)).answer }
    // After the message is there: the task has its turn before this one goes on.
    while Samples.pendingCount(store) == 0 { await Task.yield() }
    try await configuration.write { store in try store.delete(store.objects(Work.self)) }
    do {
      _ = try await task.value
      Issue.record("Nobody could have dealt with it.")
    } catch let error as StoreError {
      #expect(error.code == .objectDeleted)
    }
  }

  @Test(.timeLimit(.minutes(10))) func aMessageThatWasDeletedBeforeIsNotWaitedFor() async throws {
    let store = try Store(makeConfiguration())
    let work = Work(number: 1)
    try store.write { try store.add(work) }
    try store.write { try store.delete(work) }
    do {
      try await store.send(work)
      Issue.record("It is not there.")
    } catch let error as StoreError {
      #expect(error.code == .objectDeleted)
    }
  }

  @Test(.timeLimit(.minutes(10))) func sendingEndsWhenANewerProgramHasMigratedTheFile() async throws {
    let store = try Store(makeConfiguration())
    let task = Task { @MainActor in try await store.send(Work(number: 1)).answer }
    while Samples.pendingCount(store) == 0 { await Task.yield() }
    var newer = store.configuration
    newer.schemaVersion = 1
    newer.migration = { _, _ in }
    _ = try Store(newer, isolation: nil)
    do {
      _ = try await task.value
      Issue.record("Its answer could not be read.")
    } catch let error as StoreError {
      #expect(error.code == .newerSchema)
    }
    // The store knows already.
    let waiting = try #require(store.object(Work.self, forPrimaryKey: 1))
    do {
      try await store.send(waiting)
      Issue.record("Its answer could not be read.")
    } catch let error as StoreError {
      #expect(error.code == .newerSchema)
    }
  }

  @Test(.timeLimit(.minutes(10))) func sendingInAStoreThatReadsNothingGoesOnAfterARefresh() async throws {
    var configuration = makeConfiguration()
    configuration.autorefresh = false
    let store = try Store(configuration)
    let task = Task { @MainActor in try await store.send(Work(number: 1)).answer }
    while Samples.pendingCount(store) == 0 { await Task.yield() }
    let told = AsyncStream<StoreNotification>.makeStream()
    // Called after the block of the sender.
    let token = store.observe { notification, _ in told.continuation.yield(notification) }
    store.invalidate()
    let other = try Store(configuration, isolation: nil)
    try other.write { try other.add(Work(number: 2)) }
    for await notification in told.stream where notification == .refreshRequired { break }
    token.stop()
    let answered = try #require(other.object(Work.self, forPrimaryKey: 1))
    try other.write { answered.succeed() }
    store.refresh()
    #expect(try await task.value == 0)
  }

  @Test func withoutAContextNothingIsSent() async throws {
    let configuration = makeConfiguration()
    let keeper = try Store(configuration)
    let code = await Task.detached { () async -> StoreError.Code? in
      do {
        let store = try Store(configuration, isolation: nil)
        try await store.send(Work(number: 1), isolation: nil)
        return nil
      } catch let error as StoreError { return error.code } catch { return nil }
    }.value
    keeper.refresh()
    #expect(code == .wrongContext && keeper.objects(Work.self).isEmpty)
  }

  @Test func aRefusalIsAnAnswerToo() async throws {
    let store = try Store(makeConfiguration())
    let handler = try MessageHandler.handle(Work.self, named: "a", in: store.configuration) { work, _ in
      work.fail(code: 403, message: "You may not.")
    }
    let work = try await store.send(Work(number: 1), timeout: .seconds(600))
    #expect(work.status == .error && work.statusCode == 403 && work.statusMessage == "You may not.")
    handler.stop()
  }

  @Test func aCollectionOfOneHearsTheAnswer() async throws {
    let store = try Store(makeConfiguration())
    let request = Work(number: 7)
    try store.write { try store.add(request) }
    let handler = try MessageHandler.handle(Work.self, named: "a", in: store.configuration) { try Samples.perform($0, in: $1) }
    let answers = AsyncStream<Int>.makeStream()
    let collectionOfOne = store.objects(Work.self).where { $0.number == 7 }
    let token = collectionOfOne.observe { change in
      guard let work = change.collection?.first, work.status == .success else { return }
      answers.continuation.yield(work.answer)
    }
    var first: Int?
    for await answer in answers.stream {
      first = answer
      break
    }
    #expect(first == 14)
    token.stop()
    handler.stop()
  }
}
