import Synchronization

/// An asynchronous write that waits to begin, or runs.
///
/// Dropping it changes nothing. Safe from any thread.
public final class AsyncWrite: Sendable {
  private enum Phase {
    case waiting(onCancel: (@Sendable () -> Void)?)
    case running(isCancelled: Bool)
    /// Cancelled before it began, or done.
    case over
  }

  private let phase = Mutex(Phase.waiting(onCancel: nil))

  init() {}

  /// Cancels the write. Returns true if it had not begun: then it never will. A running write is notified
  /// (`Store.checkCancellation()`) and undone when its body returns. Idempotent.
  @discardableResult
  public func cancel() -> Bool {
    let (wasWaiting, onCancel) = phase.withLock { phase -> (Bool, (@Sendable () -> Void)?) in
      switch phase {
      case .waiting(let onCancel):
        phase = .over
        return (true, onCancel)
      case .running:
        phase = .running(isCancelled: true)
        return (false, nil)
      case .over: return (false, nil)
      }
    }
    onCancel?()
    return wasWaiting
  }

  /// Sets the action for a cancellation before the write begins. False if it was cancelled already.
  func whenCancelled(_ action: @escaping @Sendable () -> Void) -> Bool {
    phase.withLock { phase in
      guard case .waiting = phase else { return false }
      phase = .waiting(onCancel: action)
      return true
    }
  }

  var isWaiting: Bool {
    phase.withLock { phase in
      if case .waiting = phase { return true }
      return false
    }
  }

  /// Claims the right to run and to report. False if the write was cancelled, which was reported.
  func begin() -> Bool {
    phase.withLock { phase in
      guard case .waiting = phase else { return false }
      phase = .running(isCancelled: false)
      return true
    }
  }

  var isCancelled: Bool {
    phase.withLock { phase in
      if case .running(let isCancelled) = phase { return isCancelled }
      return false
    }
  }

  func end() { phase.withLock { $0 = .over } }
}
