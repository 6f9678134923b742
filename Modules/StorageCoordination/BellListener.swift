import StorageInterface
import StoreValues
import Synchronization

/// A listener of a doorbell: compares versions and calls its closure.
final class BellListener: CommitListener {
  private struct State {
    var last: Version?
    var isStopped = false
    /// The thread that is running `body`.
    var caller: UInt?
  }

  private let version: @Sendable () -> Version?
  private let body: @Sendable () -> Void
  /// Unregisters the listener from the bell.
  private let leave: @Sendable () -> Void
  private let state: Mutex<State>
  /// Held while `body` runs.
  private let calling = Mutex(())

  init(
    version: @escaping @Sendable () -> Version?, body: @escaping @Sendable () -> Void,
    leave: @escaping @Sendable () -> Void
  ) {
    self.version = version
    self.body = body
    self.leave = leave
    state = Mutex(State(last: version()))
  }

  deinit {
    let wasStopped = state.withLock { $0.isStopped }
    if !wasStopped { leave() }
  }

  /// Calls `body` if the version has changed since the last call. Called only by the bell, from one thread at a time.
  func check() {
    calling.withLock { _ in
      guard !state.withLock({ $0.isStopped }), let now = version() else { return }
      let isNews = state.withLock { state in
        guard !state.isStopped, state.last != now else { return false }
        state.last = now
        state.caller = currentThread()
        return true
      }
      guard isNews else { return }
      body()
      state.withLock { $0.caller = nil }
    }
  }

  func stop() {
    let (isFirst, caller) = state.withLock { state in
      defer { state.isStopped = true }
      return (!state.isStopped, state.caller)
    }
    if isFirst { leave() }
    // A call from within `body` must not wait; any other waits for the running `body` to return.
    if caller != currentThread() { calling.withLock { _ in } }
  }
}

/// A bell's weak reference to a listener.
struct WeakBellListener: Sendable {
  weak let listener: BellListener?
  let id: UInt64
}
