import Synchronization

/// Whether something, an observer or a queued write, is still wanted. Set once, from any thread.
final class StopFlag: Sendable {
  private let stopped = Atomic(false)

  var isActive: Bool { !stopped.load(ordering: .acquiring) }
  func stop() { stopped.store(true, ordering: .releasing) }
}
