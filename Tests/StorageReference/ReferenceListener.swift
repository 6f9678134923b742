import Foundation
import StorageInterface
import Synchronization

/// Hears of commits on the engine's queue.
final class ReferenceListener: CommitListener {
  let isTold: @Sendable () -> Bool
  private let body: @Sendable () -> Void
  private let isStopped = Atomic(false)
  /// Held during a call, so that none begins after `stop` returned; recursive, so that a call may stop itself.
  private let turn = NSRecursiveLock()

  init(unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void) {
    (self.isTold, self.body) = (isTold, body)
  }

  func call() {
    turn.withLock {
      if !isStopped.load(ordering: .acquiring) { body() }
    }
  }

  func stop() {
    turn.withLock { isStopped.store(true, ordering: .releasing) }
  }
}
