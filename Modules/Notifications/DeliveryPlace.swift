import Dispatch
import Synchronization

/// Where an open store's observers hear of changes: its context, and the turn it takes there. At most one turn is
/// pending, however many commits come before it runs. Safe from any thread.
package final class DeliveryPlace: Sendable {
  private let context: Mutex<DeliveryContext>
  private let turn: @Sendable () -> Void
  private let isPending = Atomic(false)
  /// Whether a turn is waiting to look, which sees all that is there by then, and need not be woken for it.
  let isLooking = Atomic(false)
  /// Observations whose first result is not there yet.
  let startsPending = Atomic(0)

  /// The file's number in this process: which open file the store is of.
  package let file: UInt64

  package init(_ context: DeliveryContext, of file: UInt64, _ turn: @escaping @Sendable () -> Void) {
    self.file = file
    self.context = Mutex(context)
    self.turn = turn
  }

  /// Whether turns come by themselves.
  package var takesTurns: Bool { context.withLock { if case .manual = $0 { false } else { true } } }

  /// Whether observations were asked for that have not begun; a turn follows when they have.
  package var isStarting: Bool { startsPending.load(ordering: .acquiring) > 0 }

  /// The store belongs to a context from now on, and takes its turns there.
  package func move(to context: DeliveryContext) { self.context.withLock { $0 = context } }

  /// Has the turn run soon.
  package func wake() {
    guard takesTurns, !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
    context.withLock { $0 }.schedule { [weak self] in
      guard let self else { return }
      // Cleared before the turn looks: what comes after that asks for another turn.
      isPending.store(false, ordering: .releasing)
      turn()
    }
  }

  /// Has the turn run after a while.
  package func wake(after delay: Duration) {
    let (seconds, attoseconds) = delay.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    // Longer than a day is a day: whoever is still not due asks again.
    let bounded = Int(max(0, min(nanoseconds, 86_400e9)))
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(bounded)) { [weak self] in self?.wake() }
  }
}
