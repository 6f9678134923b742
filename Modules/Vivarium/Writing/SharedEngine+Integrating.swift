import ChangeTracker
import Dispatch
import Notifications
import StorageInterface
import Synchronization

extension SharedEngine {
  /// Runs `body` in a write that integrates changes of other replicas, on the worker, after all writes requested before. Observers
  /// are notified as of any commit, but not if no object changed (when a cursor moved, for example). If `body` throws, nothing is
  /// written.
  ///
  /// Delete rules do not apply: see `RecordedTransaction`. `done` is called once, on any thread.
  func integrate<R: Sendable>(
    author: String?, durability: Durability, deadline: Deadline, companion: (any CommitCompanion)?,
    _ body: @escaping @Sendable (RecordedTransaction) throws -> R, _ done: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    let turn = WriterQueue.Waiter()
    writers.join(turn) { [self] in
      defer { writers.leave(turn) }
      done(
        Result {
          guard turn.wait(deadline) else { throw StoreError(StorageError.lateForWrite) }
          return try integrate(author, durability, try engine.beginWrite(deadline), turn) { write in
            try companion?.catchUp(write)
            return try body(write)
          }
        }.mapError { error in (error as? StorageError).map { StoreError($0) } ?? error })
    }
  }

  private func integrate<R>(
    _ author: String?, _ durability: Durability, _ transaction: any WriteTransaction, _ turn: WriterQueue.Waiter,
    _ body: (RecordedTransaction) throws -> R
  ) throws -> R {
    writers.leave(turn)
    let write = RecordedTransaction(
      transaction, origin: StoreOrigin.remote, recordsValues: false, followsRules: false, companion: nil)
    defer { write.end() }
    let result = try body(write)
    try commitGate.withLock { _ throws(StorageError) in
      _ = try results.commit(write, author: author, timeMilliseconds: Store.now, durability)
    }
    return result
  }
}

extension Store {
  /// Writes changes of other replicas: see `SharedEngine.integrate`. Like every store of the file, this one moves on when it
  /// refreshes.
  ///
  /// - Parameter author: the author, if there was only one.
  package func integrate<R: Sendable>(
    author: String? = nil, durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (RecordedTransaction) throws -> R
  ) async throws -> R {
    let result = await withCheckedContinuation { continuation in
      shared.integrate(
        author: author, durability: durability ?? configuration.durability, deadline: writeDeadline,
        companion: configuration.commitCompanion, body
      ) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }
}
