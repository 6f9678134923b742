import Dispatch
import Notifications
import Storage

extension SharedEngine {
  /// Runs `body` in a write on the worker, with a store of its own, after all that were asked for before. `done` is
  /// called once, on any thread. The deadline counts from now.
  func enqueue<R: Sendable>(
    _ request: AsyncWrite, _ configuration: StoreConfiguration, withoutNotifying tokens: [NotificationToken],
    author: String?, durability: Durability?, place: String,
    _ body: @escaping @Sendable (Store) throws -> R, _ done: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    guard request.whenCancelled({ done(.failure(StoreError.cancelledWrite)) }) else {
      return done(.failure(StoreError.cancelledWrite))
    }
    let deadline = configuration.writeTimeout.map { Deadline.after($0) } ?? .never
    worker.async { [self] in
      guard request.isWaiting else { return }
      let store: Store
      do {
        store = try Store(configuration, self, home: .manual, place: place)
        try store.beginWrite(deadline)
      } catch {
        if request.begin() { done(.failure(error)) }
        return
      }
      // Cancelled while it waited: that was reported then.
      guard request.begin() else { return store.cancelWrite() }
      store.request = request
      let result = Result {
        try store.finishWrite(withoutNotifying: tokens, author, durability) {
          let value = try body(store)
          try store.checkCancellation()
          return value
        }
      }
      request.end()
      done(result)
    }
  }

  /// As `enqueue`, for a task: cancelling it cancels the write.
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
