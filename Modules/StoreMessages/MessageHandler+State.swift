import Dispatch
import Synchronization
import Vivarium

extension MessageHandler {
  /// What a handler does.
  public enum State: Sendable {
    /// It handles messages, or waits for some.
    case running
    /// Its last write failed with this error, so what it did for a message is undone. It tries again with every commit, and once a
    /// second.
    case failing(any Error)
    /// It takes no further message: the error that no later try could have got past, or nil after `stop()`. Other handlers of its name,
    /// and those that begin later, get what is left.
    case ended((any Error)?)
  }

  /// What the handler does now. Any thread.
  public var state: State { status.state }

  /// What the handler's last write failed with, or what has made it end; nil while it can write, and after `stop()`. Any thread.
  public var error: (any Error)? {
    switch state {
    case .running: nil
    case .failing(let error): error
    case .ended(let error): error
    }
  }

  /// Calls `block` with the state that the handler has, then with each new one, in order and on the handler's own queue. The last one is
  /// `.ended`; then the block is released. Any thread.
  public func onChange(_ block: @escaping @Sendable (State) -> Void) {
    queue.async { [status] in status.add(block) }
  }
}

/// What a handler does, for those who ask. Changed and observed on the handler's queue, read on any thread.
final class HandlerStatus: Sendable {
  private struct Current {
    var state = MessageHandler.State.running
    var observers: [@Sendable (MessageHandler.State) -> Void] = []
    var hasEnded: Bool { if case .ended = state { true } else { false } }
  }

  private let current = Mutex(Current())

  var state: MessageHandler.State { current.withLock { $0.state } }

  func add(_ observer: @escaping @Sendable (MessageHandler.State) -> Void) {
    let state = current.withLock { current in
      if !current.hasEnded { current.observers.append(observer) }
      return current.state
    }
    observer(state)
  }

  /// Nothing follows the end.
  func change(to state: MessageHandler.State) {
    let observers = current.withLock { current -> [@Sendable (MessageHandler.State) -> Void] in
      if current.hasEnded { return [] }
      current.state = state
      defer { if current.hasEnded { current.observers = [] } }
      return current.observers
    }
    for observer in observers { observer(state) }
  }
}
