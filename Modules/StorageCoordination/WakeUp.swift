import Dispatch
import StorageInterface
import Synchronization

/// What a thread waits for once, until a deadline at most.
///
/// A semaphore of Dispatch waits on Linux for a time of the clock of dates, which somebody may set: when that is set forward, a wait ends
/// at once, and when it is set back by a year, a year too late. A group waits for a span of time.
package final class WakeUp: Sendable {
  private let group = DispatchGroup()
  private let isOver = Atomic(false)

  package init() { group.enter() }

  // Dispatch ends the process over a group that goes while somebody is in it.
  deinit { wake() }

  /// Lets the waiting thread go on, or whoever will wait. Idempotent, from any thread.
  package func wake() {
    if !isOver.exchange(true, ordering: .relaxed) { group.leave() }
  }

  /// Blocks until woken; false past the deadline.
  package func wait(_ deadline: Deadline) -> Bool {
    guard let remaining = deadline.remaining else {
      group.wait()
      return true
    }
    return group.wait(timeout: .now() + remaining.dispatchInterval) == .success
  }
}

extension Duration {
  fileprivate var dispatchInterval: DispatchTimeInterval { .nanoseconds(Int(truncatingIfNeeded: nanosecondCount)) }
}
