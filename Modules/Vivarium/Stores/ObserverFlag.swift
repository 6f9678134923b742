import Synchronization

/// Whether an observer is still wanted: set once, from any thread.
final class ObserverFlag: Sendable {
  private let stopped = Atomic(false)

  var isActive: Bool { !stopped.load(ordering: .acquiring) }
  func stop() { stopped.store(true, ordering: .releasing) }
}
