#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import StoreValues
import Synchronization

/// One listener of a doorbell: compares versions and calls.
final class BellListener: CommitListener {
  private struct State {
    var last: Version?
    var isStopped = false
    /// The thread that is inside `body`.
    var caller: UInt?
  }

  private let version: @Sendable () -> Version?
  private let body: @Sendable () -> Void
  /// Tells the bell that the listener is gone.
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

  /// Calls `body` if the version moved since the last call. Only by the bell, from one thread at a time.
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
    // From within `body` there is nothing to wait for; from elsewhere, its end.
    if caller != currentThread() { calling.withLock { _ in } }
  }
}

/// A number for the calling thread, different from those of all other living threads.
func currentThread() -> UInt {
  #if canImport(Darwin)
  UInt(bitPattern: pthread_self())
  #else
  UInt(pthread_self())
  #endif
}

/// A listener as its bell holds it.
struct WeakBellListener: Sendable {
  weak let listener: BellListener?
  let id: UInt64
}
