import Foundation
import Synchronization
import Vivarium

extension Store {
  /// Adds a message and waits until somebody has dealt with it; gives the message, whose status and answer are then
  /// there.
  ///
  /// It stays in the store whatever happens to this process, and is dealt with then. `.messageTimeout` when nobody did in time:
  /// the message stays too. `.cancelled` when the task is cancelled, `.objectDeleted` when the message was deleted, and what
  /// adding throws. `.wrongContext`, and nothing is added, where the store has no context in which it could hear of
  /// the answer: no actor, queue or run loop.
  @discardableResult
  public func send<M: Message>(
    _ message: M, timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws -> M {
    let waiting = Waiting()
    let token = observe(isolation: isolation) { _, _ in
      guard message.isManaged else { return }
      if message.isInvalidated { waiting.finish(.deleted) } else if message.status != .notProcessed { waiting.finish(.processed) }
    }
    defer { token.stop() }
    guard scheduler != nil else {
      throw StoreError(
        .wrongContext, "The store has no actor, queue or run loop in which it could hear of an answer.",
        remedy: "Open it in an actor, or add the message and call 'refresh()'.")
    }
    if !message.isManaged { try write { try add(message) } }
    if message.status != .notProcessed { waiting.finish(.processed) }
    let clock = timeout.map { timeout in
      Task {
        try? await Task.sleep(for: timeout)
        waiting.finish(.timeout)
      }
    }
    defer { clock?.cancel() }
    let end = await withTaskCancellationHandler {
      await waiting.end(isolation: isolation)
    } onCancel: {
      waiting.finish(.cancelled)
    }
    switch end {
    case .processed: return message
    case .timeout:
      throw StoreError(
        .messageTimeout, "Nobody dealt with \(message.objectIdentifier) in time.",
        remedy: "It stays in the store: observe it, or delete it.")
    case .deleted: throw StoreError(.objectDeleted, "The message was deleted before anybody dealt with it.")
    case .cancelled: throw StoreError(.cancelled, "The task was cancelled; the message stays in the store.")
    }
  }
}

extension StoreError.Code {
  /// Nobody dealt with a message in the time that its sender would wait.
  public static let messageTimeout = Self(rawValue: "messageTimeout")
}

/// The end of a wait: the first of several events. Any thread.
private final class Waiting: Sendable {
  enum End: Sendable {
    case processed
    case timeout
    case deleted
    case cancelled
  }

  private struct State {
    var end: End?
    var continuation: CheckedContinuation<End, Never>?
  }

  private let state = Mutex(State())

  func finish(_ end: End) {
    let waiting: CheckedContinuation<End, Never>? = state.withLock { state in
      guard state.end == nil else { return nil }
      state.end = end
      defer { state.continuation = nil }
      return state.continuation
    }
    waiting?.resume(returning: end)
  }

  func end(isolation: isolated (any Actor)?) async -> End {
    await withCheckedContinuation(isolation: isolation) { continuation in
      let end: End? = state.withLock { state in
        if state.end == nil { state.continuation = continuation }
        return state.end
      }
      if let end { continuation.resume(returning: end) }
    }
  }
}
