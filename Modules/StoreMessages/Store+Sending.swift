import Foundation
import Synchronization
import Vivarium

extension Store {
  /// Adds a message and waits until it has been handled. Returns the message with its status and answer.
  ///
  /// The message stays in the store whatever happens to this process, and is handled even then. Throws `.messageTimeout` if it was
  /// not handled in time; it still stays in the store. Throws `.cancelled` if the task is cancelled, `.objectDeleted` if the
  /// message was deleted, `.newerSchema` if a newer program has migrated the file, so that no answer can be read here, and the errors
  /// of adding. Throws `.wrongContext`, and adds nothing, if the store has no context in which
  /// it could be notified of the answer: no actor, queue or run loop.
  @discardableResult
  public func send<M: Message>(
    _ message: M, timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws -> M {
    let waiting = Waiting()
    let token = observe(isolation: isolation) { notification, store in
      // Otherwise the store has not moved: its message is as before, or cannot be read until the next refresh.
      if notification == .didChange, message.isManaged {
        if message.isInvalidated { waiting.finish(.deleted) } else if message.status != .notProcessed { waiting.finish(.processed) }
      }
      if let outdated = store.outdated { waiting.finish(.outdated(outdated)) }
    }
    defer { token.stop() }
    guard scheduler != nil else {
      throw StoreError(
        .wrongContext, "The store has no actor, queue or run loop in which it could hear of an answer.",
        remedy: "Open it in an actor, or add the message and call 'refresh()'.")
    }
    if !message.isManaged { try write { try add(message) } }
    if message.isInvalidated {
      // It was deleted before this call, and no commit says so again.
      waiting.finish(.deleted)
    } else if message.status != .notProcessed {
      waiting.finish(.processed)
    } else if let outdated {
      // Its observers have been told, and hear nothing more.
      throw outdated
    }
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
    case .outdated(let error): throw error
    case .cancelled: throw StoreError(.cancelled, "The task was cancelled; the message stays in the store.")
    }
  }
}

extension StoreError.Code {
  /// A message was not handled in the time that its sender would wait.
  public static let messageTimeout = Self(rawValue: "messageTimeout")
}

/// The end of a wait: the first of several events. Any thread.
private final class Waiting: Sendable {
  enum End: Sendable {
    case processed
    case timeout
    case deleted
    case outdated(StoreError)
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
