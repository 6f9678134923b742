import Dispatch
import Synchronization

/// Where an open store's observers hear of changes: its context, and the turn it takes there. Safe from any thread.
package final class DeliveryPlace: Sendable {
  private let turn: PendingTurn
  /// Whether a turn waits to look: it will see all that is there by then, so nobody need wake the place for that.
  let isLooking = Atomic(false)
  /// Observations whose first result is not there yet.
  let startsPending = Atomic(0)

  /// The file's number in this process: which open file the store is of.
  package let file: UInt64

  package init(_ context: DeliveryContext, of file: UInt64, _ turn: @escaping @Sendable () -> Void) {
    self.file = file
    self.turn = PendingTurn(context, turn)
  }

  /// Whether turns come by themselves.
  package var takesTurns: Bool { turn.isTaken }

  /// Whether observations were asked for that have not begun; a turn follows when they have.
  package var isStarting: Bool { startsPending.load(ordering: .acquiring) > 0 }

  /// The store belongs to a context from now on, and takes its turns there.
  package func move(to context: DeliveryContext) { turn.move(to: context) }

  /// Has the turn run soon.
  package func wake() { turn.ask() }

  /// Has the turn run after a while.
  package func wake(after delay: Duration) {
    let (seconds, attoseconds) = delay.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    // Longer than a day is a day: whoever is still not due asks again.
    let bounded = Int(max(0, min(nanoseconds, 86_400e9)))
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(bounded)) { [weak self] in self?.wake() }
  }
}
