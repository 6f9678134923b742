import Synchronization

/// A turn of a context on request: at most one is pending, however many requests come before it runs, so that state is bounded
/// even for a context that never runs. Safe from any thread.
final class PendingTurn: Sendable {
  private let context: Mutex<DeliveryContext>
  private let turn: @Sendable () -> Void
  private let isActive = Atomic(true)
  private let isPending = Atomic(false)

  init(_ context: DeliveryContext, _ turn: @escaping @Sendable () -> Void) {
    self.context = Mutex(context)
    self.turn = turn
  }

  /// Whether turns happen automatically.
  var isTaken: Bool { context.withLock { if case .manual = $0 { false } else { true } } }

  /// Moves the turns to another context.
  func move(to context: DeliveryContext) { self.context.withLock { $0 = context } }

  /// Runs the turn soon; not if this is stopped or released.
  func ask() {
    guard isTaken, isActive.load(ordering: .acquiring), !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
    context.withLock { $0 }.schedule { [weak self] in
      guard let self else { return }
      // Cleared before the turn looks: later requests cause another turn.
      _ = isPending.exchange(false, ordering: .acquiringAndReleasing)
      if isActive.load(ordering: .acquiring) { turn() }
    }
  }

  /// Ends the turns. On the context itself no turn begins after this returned. Idempotent.
  func stop() { isActive.store(false, ordering: .releasing) }
}
