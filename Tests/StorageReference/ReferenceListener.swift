import Foundation
import StorageInterface
import Synchronization

/// Hears of commits on the engine's queue.
final class ReferenceListener: CommitListener {
  private let body: @Sendable () -> Void
  private let isStopped = Atomic(false)
  /// Held during a call, so that none begins after `stop` returned; recursive, so that a call may stop itself.
  private let turn = NSRecursiveLock()

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func call() {
    turn.withLock {
      if !isStopped.load(ordering: .acquiring) { body() }
    }
  }

  func stop() {
    turn.withLock { isStopped.store(true, ordering: .releasing) }
  }
}
