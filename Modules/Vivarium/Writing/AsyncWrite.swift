import Synchronization

/// A write that was asked for and has not happened yet, or happens now.
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

  /// Gives the write up. Returns true when it had not begun: then it never will. One that runs is told so
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

  /// Sets what is done when it is cancelled before it begins. False: it was already.
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

  /// Takes the right to run and to report. False: it was cancelled, and that was reported.
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
