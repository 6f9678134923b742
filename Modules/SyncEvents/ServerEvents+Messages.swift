import StoreMessages
import Synchronization
import Vivarium

// Objects as messages over sync. Devices write messages and observe them; a handler name of the server answers them. The message's
// status is the mark that it is answered: it is in the same transaction as everything else that the handler writes and as its cursor.

extension ServerEvents {
  /// Answers the messages that devices put into a server's stores, each once.
  ///
  /// ```swift
  /// try await events.answer(store: "/*/questions", Question.self, named: "answers") { question, change, store in
  ///   if question.text.isEmpty { return question.fail(message: "There is no question.") }
  ///   question.answer = "42"
  /// }
  /// await events.run()      // until the task is cancelled
  /// ```
  ///
  /// `body` runs inside a write, with the message, who asked (`ServerChange.author`), and the store. Set the answer there; a message that
  /// is still `.notProcessed` afterwards becomes `.success`. The answer, everything else that `body` writes, and the note that the message
  /// is handled are one transaction of the server: a process that is killed at any moment has done all of it or nothing.
  ///
  /// All messages that are `.notProcessed` are answered, also those from before the name's first run; their author is not known (empty). A
  /// message that is set to `.notProcessed` again is answered again. If `body` throws, its changes are undone, and the message is tried
  /// again as a failed event is, while those behind it in its store wait. `body` must not end the write. After `attemptsMax` failures the
  /// message is a dead letter: its status becomes `.error`, with the last error as message. A process counts the failures that it saw.
  ///
  /// - Parameters:
  ///   - pattern: the stores, as for `on`.
  ///   - name: the permanent name, as for `on`. One name answers a type: others hear of messages by `on`.
  ///   - retention: which answered messages are kept; the others are deleted, for all devices. nil: all are kept. A store is looked
  ///     through when one of its messages is answered, at most once a minute. The age counts from `updatedAt`; let it be longer than
  ///     devices are away: one that has not received its answer by then finds the message deleted.
  public func answer<M: Message>(
    store pattern: String, _ type: M.Type, named name: String, attemptsMax: Int = 5, retention: HandlingRules.Retention? = nil,
    _ body: @escaping @Sendable (M, ServerChange<M>, Store) throws -> Void
  ) throws(ServerEventError) {
    try answer(store: pattern, type, named: name, attemptsMax: attemptsMax, retention: retention, outside: { change in
      return { try body($0, change, $1) }
    })
  }

  /// Answers messages by work outside the store: `body` may take any time, and returns the write. The work is done at least once: give
  /// `ServerChange.idempotencyKey` to the other system, so that it does nothing twice. The rest is as above.
  public func answer<M: Message>(
    store pattern: String, _ type: M.Type, named name: String, attemptsMax: Int = 5, retention: HandlingRules.Retention? = nil,
    outside body: @escaping @Sendable (ServerChange<M>) async throws -> @Sendable (M, Store) throws -> Void
  ) throws(ServerEventError) {
    let failures = Failures(attemptsMax)
    let retention = retention.map { AnswerRetention($0, clock: clock) }
    let waiting: @Sendable (Store) -> [M] = { store in
      Array(store.objects(M.self).matching("status", .int(Int64(MessageStatus.notProcessed.rawValue))))
    }
    try add(pattern, type, name, nil, waiting: waiting) { change in
      guard change.asks else { return { _ in } }
      if let error = failures.last(of: change) { return { store in try failures.bury(change, error, in: store) } }
      let write: @Sendable (M, Store) throws -> Void
      do { write = try await body(change) } catch {
        // A handler that is ended has not failed.
        if Task.isCancelled { throw error }
        try failures.count(error, of: change)
        return { store in try failures.bury(change, error, in: store) }
      }
      return { store in
        guard let message = change.object(in: store), message.status == .notProcessed else { return }
        do { try store.savepoint { try write(message, store) } } catch {
          guard store.isInWriteTransaction else { throw error }
          try failures.count(error, of: change)
          return try failures.bury(change, error, in: store)
        }
        try failures.forget(change, after: store)
        if !message.isInvalidated, message.status == .notProcessed { message.succeed() }
        try retention?.trim(with: change, in: store)
      }
    }
  }
}

extension ServerChange where T: Message {
  /// Whether the message waits for an answer from now on.
  var asks: Bool { new?.status == .notProcessed && old?.status != .notProcessed }
}

/// How often messages that are not answered yet have failed. A message is forgotten only once its answer is committed: the messages of one
/// transaction are answered in one write, and another one that fails undoes the answers of all. Any thread.
private final class Failures: Sendable {
  private let most: Int
  private let known = Mutex<[String: (count: Int, last: any Error)]>([:])

  init(_ most: Int) { self.most = most }

  /// Counts a failure; throws its error unless it is the last one.
  func count<M: Message>(_ error: any Error, of change: ServerChange<M>) throws {
    let count = known.withLock { known in
      let count = (known[change.idempotencyKey]?.count ?? 0) + 1
      known[change.idempotencyKey] = (count, error)
      return count
    }
    if count < most { throw error }
  }

  /// The last error of a message that has failed as often as it may.
  func last<M: Message>(of change: ServerChange<M>) -> (any Error)? {
    known.withLock { known in
      guard let failed = known[change.idempotencyKey], failed.count >= most else { return nil }
      return failed.last
    }
  }

  /// Makes a message a dead letter, in a write.
  func bury<M: Message>(_ change: ServerChange<M>, _ error: any Error, in store: Store) throws {
    try forget(change, after: store)
    change.object(in: store)?.fail(message: "\(error)")
  }

  /// Forgets a message when the open write is committed.
  func forget<M: Message>(_ change: ServerChange<M>, after store: Store) throws {
    try store.afterCommit { [self] _ in known.withLock { $0[change.idempotencyKey] = nil } }
  }
}
