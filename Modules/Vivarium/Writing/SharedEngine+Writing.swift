import Dispatch
import Notifications
import StorageInterface

extension SharedEngine {
  /// Runs `body` in a write on the worker, with a store of its own, after all writes requested before. `done` is called once, on
  /// any thread. The deadline counts from now.
  func enqueue<R: Sendable>(
    _ request: AsyncWrite, _ configuration: StoreConfiguration, withoutNotifying tokens: [NotificationToken],
    author: String?, durability: Durability?, place: String,
    _ body: @escaping @Sendable (Store) throws -> R, _ done: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    let turn = WriterQueue.Waiter()
    let giveUp: @Sendable () -> Void = { [writers] in
      writers.leave(turn)
      done(.failure(StoreError.cancelledWrite))
    }
    guard request.whenCancelled(giveUp) else { return giveUp() }
    let deadline = configuration.writeTimeout.map { Deadline.after($0) } ?? .never
    writers.join(turn) { [self] in
      defer { writers.leave(turn) }
      guard request.isWaiting else { return }
      // The store is released before the outcome is reported, so that it no longer holds a version.
      let outcome = run(request, turn, deadline, configuration, withoutNotifying: tokens, author, durability, place, body)
      if let outcome { done(outcome) }
    }
  }

  /// Writes on the worker; nil if the request was cancelled, which was reported then.
  private func run<R: Sendable>(
    _ request: AsyncWrite, _ turn: WriterQueue.Waiter, _ deadline: Deadline, _ configuration: StoreConfiguration,
    withoutNotifying tokens: [NotificationToken], _ author: String?, _ durability: Durability?, _ place: String,
    _ body: @Sendable (Store) throws -> R
  ) -> Result<R, any Error>? {
    let store: Store
    do {
      store = try Store(configuration, self, home: .manual, place: place, isBrief: true)
      guard turn.wait(deadline) else { throw StoreError(StorageError.lateForWrite) }
      guard request.isWaiting else { return nil }
      try store.beginWrite(deadline, place)
    } catch {
      return request.begin() ? .failure(error) : nil
    }
    writers.leave(turn)
    guard request.begin() else {
      store.cancelWrite()
      return nil
    }
    store.writer.request = request
    defer { request.end() }
    return Result {
      try store.finishWrite(withoutNotifying: tokens, author, durability) {
        let value = try body(store)
        try store.checkCancellation()
        return value
      }
    }
  }

  /// Calls `enqueue` for a task: cancelling the task cancels the write.
  func perform<R: Sendable>(
    _ configuration: StoreConfiguration, withoutNotifying tokens: [NotificationToken] = [], author: String?,
    durability: Durability?, place: String, isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (Store) throws -> R
  ) async -> Result<R, any Error> {
    if Task.isCancelled { return .failure(StoreError.cancelledWrite) }
    let request = AsyncWrite()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        enqueue(
          request, configuration, withoutNotifying: tokens, author: author, durability: durability, place: place, body
        ) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      request.cancel()
    }
  }
}

extension StoreError {
  static var cancelledWrite: StoreError {
    StoreError(.cancelled, "The write was cancelled, and nothing of it was made.")
  }
}
