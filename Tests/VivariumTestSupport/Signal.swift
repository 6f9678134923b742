import Dispatch
import Synchronization

/// Waits for events that other threads bring about: counts them, and lends the waiting thread a deadline that
/// only a failure ever meets. No sleeping, no polling.
public final class Signal: Sendable {
  private let arrived = DispatchSemaphore(value: 0)
  private let total = Atomic(0)

  public init() {}

  /// How often `fire` was called.
  public var count: Int { total.load(ordering: .acquiring) }

  /// Says that the event happened. From any thread.
  public func fire() {
    total.add(1, ordering: .acquiringAndReleasing)
    arrived.signal()
  }

  /// Blocks until one more event has happened than was waited for before. False after `seconds` without: more than a
  /// whole run takes, because a task that a test starts may get its turn after every test that was started before.
  public func wait(seconds: Int = 900) -> Bool { arrived.wait(timeout: .now() + .seconds(seconds)) == .success }

  /// Waits event by event until the condition holds, which is tested first and after each. False when an
  /// event fails to come for `seconds`.
  public func wait(seconds: Int = 900, until condition: () -> Bool) -> Bool {
    while !condition() {
      if !wait(seconds: seconds) { return condition() }
    }
    return true
  }
}
