import Dispatch
import Synchronization

/// The delivery end of an open store: its context, and its turn there. Safe from any thread.
package final class DeliveryPlace: Sendable {
  private let turn: PendingTurn
  /// Whether a turn is waiting to look: it will see everything present by then, so the place need not be woken.
  let isLooking = Atomic(false)
  /// How often in a row its turn could not look.
  private let misses = Atomic(0)
  /// The number of observations without a first result.
  let startsPending = Atomic(0)

  /// The file's number in this process.
  package let file: UInt64

  package init(_ context: DeliveryContext, of file: UInt64, _ turn: @escaping @Sendable () -> Void) {
    self.file = file
    self.turn = PendingTurn(context, turn)
  }

  /// Whether turns happen automatically.
  package var takesTurns: Bool { turn.isTaken }

  /// Whether requested observations have not begun yet; a turn follows when they have.
  package var isStarting: Bool { startsPending.load(ordering: .acquiring) > 0 }

  /// Moves the store's turns to another context.
  package func move(to context: DeliveryContext) { turn.move(to: context) }

  /// Runs the turn soon.
  package func wake() { turn.ask() }

  /// Runs the turn again that could not look, because others took their time. Not behind them: they may have more to do. Each time in a row
  /// it comes later, up to 12.8 ms.
  func wakeAfterMiss() {
    let before = misses.add(1, ordering: .relaxed).oldValue
    wake(after: .microseconds(200 << min(before, 6)))
  }

  /// Its turn has looked.
  func noteLook() { misses.store(0, ordering: .relaxed) }

  /// Runs the turn after a delay.
  package func wake(after delay: Duration) {
    let (seconds, attoseconds) = delay.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    // Limited to a day: a store that is still not due then asks again.
    let bounded = Int(max(0, min(nanoseconds, 86_400e9)))
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(bounded)) { [weak self] in self?.wake() }
  }
}
