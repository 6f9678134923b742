import Foundation
import Vivarium

extension Handling {
  func claim(
    _ store: Store, _ body: @escaping @Sendable (MessageJob<M>) async throws -> @Sendable (M, Store) throws -> Void
  ) throws {
    guard try hasWork(store) else { return }
    let job: MessageJob<M>? = try store.write {
      guard let next = try next(store) else { return nil }
      if next.receipt.attempts >= rules.attemptsMax {
        // It was begun as often as the rules allow, and the last handler of it died.
        try postpone(next, StoreError.attemptsExhausted(next.receipt.attempts), store)
        return nil
      }
      next.receipt.state = .claimed
      next.receipt.owner = owner
      next.receipt.attempts += 1
      next.receipt.notBefore = Date().addingTimeInterval(rules.lease.seconds)
      return MessageJob(
        message: next.message.reference, idempotencyKey: next.receipt.id, attempt: next.receipt.attempts)
    }
    guard let job else { return schedule() }
    succeeded()
    isWorkingOutside = true
    Task { [self] in
      let result: Result<@Sendable (M, Store) throws -> Void, any Error>
      do { result = .success(try await body(job)) } catch { result = .failure(error) }
      queue.async { self.settle(job, result) }
    }
  }

  /// Writes the result of work outside the store, unless another handler has begun the message meanwhile.
  private func settle(_ job: MessageJob<M>, _ result: Result<@Sendable (M, Store) throws -> Void, any Error>) {
    isWorkingOutside = false
    defer { if isEnding { end() } else { schedule() } }
    guard let store else { return }
    do {
      let ended: (any Error)? = try store.write {
        guard let found = claimed(job, store) else { return nil }
        return try settle(found, store) { try result.get()($0, store) }
      }
      // The work has ended its own write, so its failure could not be recorded in it.
      if let ended {
        try store.write {
          guard let found = claimed(job, store), found.message.status == .notProcessed || found.receipt.owed != "" else { return }
          try postpone(found, ended, store)
        }
      }
      succeeded()
    } catch {
      failed(error)
    }
  }

  /// The message of a job; nil if its lease has ended and another handler has claimed it, or if it is gone. In a write.
  private func claimed(_ job: MessageJob<M>, _ store: Store) -> Found? {
    guard let message = store.resolve(job.message),
      let receipt = store.object(MessageReceipt.self, forPrimaryKey: job.idempotencyKey),
      receipt.state == .claimed, receipt.owner == owner
    else { return nil }
    return Found(message: message, receipt: receipt)
  }
}

extension StoreError.Code {
  /// A message was begun as often as its handler's rules allow, and never finished.
  public static let attemptsExhausted = Self(rawValue: "attemptsExhausted")
}

extension StoreError {
  static func attemptsExhausted(_ attempts: Int) -> StoreError {
    StoreError(.attemptsExhausted, "Nobody finished the work in \(attempts) attempts.")
  }
}
