import Dispatch
import StorageInterface
import Synchronization

/// The right to write: one holder, the others in the order they came, each until its deadline.
final class ReferenceLock: Sendable {
  private struct State {
    var isHeld = false
    var waiters: [Waiter] = []
  }

  private final class Waiter: Sendable {
    let engine: ObjectIdentifier
    let woken = DispatchSemaphore(value: 0)
    let isGranted = Mutex(false)

    init(_ engine: ObjectIdentifier) { self.engine = engine }
  }

  private let state = Mutex(State())

  func acquire(_ deadline: Deadline, for engine: ReferenceEngine) throws(StorageError) {
    let waiter = Waiter(ObjectIdentifier(engine))
    let isFree = state.withLock { state in
      if state.isHeld {
        state.waiters.append(waiter)
        return false
      }
      state.isHeld = true
      waiter.isGranted.withLock { $0 = true }
      return true
    }
    if !isFree { wait(waiter, deadline) }
    if waiter.isGranted.withLock({ $0 }) { return }
    try engine.checkOpen()
    throw StorageError(.writeTimeout, .transaction, "Another write did not end before the deadline.")
  }

  private func wait(_ waiter: Waiter, _ deadline: Deadline) {
    guard let remaining = deadline.remaining else { return waiter.woken.wait() }
    let (seconds, attoseconds) = remaining.components
    let nanoseconds = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let limit: DispatchTime =
      nanoseconds.overflow
      ? .distantFuture : .now() + .nanoseconds(nanoseconds.partialValue + Int(attoseconds / 1_000_000_000))
    if waiter.woken.wait(timeout: limit) == .timedOut {
      // It may be granted between the timeout and this; then it holds, and late is well.
      state.withLock { state in state.waiters.removeAll { $0 === waiter } }
    }
  }

  func release() {
    state.withLock { state in
      guard !state.waiters.isEmpty else { return state.isHeld = false }
      let next = state.waiters.removeFirst()
      next.isGranted.withLock { $0 = true }
      next.woken.signal()
    }
  }

  /// Wakes whoever waits for an engine that was closed; they get `.closed`.
  func wakeWaiters(of engine: ReferenceEngine) {
    let engine = ObjectIdentifier(engine)
    state.withLock { state in
      for waiter in state.waiters where waiter.engine == engine { waiter.woken.signal() }
      state.waiters.removeAll { $0.engine == engine }
    }
  }
}
