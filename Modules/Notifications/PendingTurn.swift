import Synchronization

/// A turn that a context is to take whenever something is asked of it: at most one is pending, however often it is asked for
/// before it runs, so that state is bounded also for a context that never runs. Safe from any thread.
final class PendingTurn: Sendable {
  private let context: Mutex<DeliveryContext>
  private let turn: @Sendable () -> Void
  private let isActive = Atomic(true)
  private let isPending = Atomic(false)

  init(_ context: DeliveryContext, _ turn: @escaping @Sendable () -> Void) {
    self.context = Mutex(context)
    self.turn = turn
  }

  /// Whether turns come by themselves.
  var isTaken: Bool { context.withLock { if case .manual = $0 { false } else { true } } }

  /// Turns are taken in a context from now on.
  func move(to context: DeliveryContext) { self.context.withLock { $0 = context } }

  /// Has the turn run soon; not at all once this is stopped, or let go of.
  func ask() {
    guard isTaken, isActive.load(ordering: .acquiring), !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
    context.withLock { $0 }.schedule { [weak self] in
      guard let self else { return }
      // Cleared before the turn looks: what comes after that asks for another turn.
      isPending.store(false, ordering: .releasing)
      if isActive.load(ordering: .acquiring) { turn() }
    }
  }

  /// No turn begins after this returned on the context itself. Idempotent.
  func stop() { isActive.store(false, ordering: .releasing) }
}
