import StorageInterface
import StoreValues
import Synchronization

/// Knows which commits of an engine this process tells of itself, so that the engine's bell need not ring for them here.
///
/// Apart from `CommitNotifier`, because an engine asks it in each commit, and must not keep who keeps the engine.
package final class CommitTeller: Sendable {
  /// The thread that makes such a commit; 0: none does.
  private let thread = Atomic<UInt>(0)

  init() {}

  /// Makes a commit of which the caller tells when this returns, also where it fails: then it may be visible all the same.
  ///
  /// Nobody else commits meanwhile: `commit` holds the right to write.
  package func telling<R>(_ commit: () throws(StorageError) -> R) throws(StorageError) -> R {
    let own = currentThread()
    thread.store(own, ordering: .relaxed)
    defer {
      // The next holder of the right to write may have begun its commit.
      _ = thread.compareExchange(expected: own, desired: 0, ordering: .relaxed)
    }
    return try commit()
  }

  /// Whether this thread makes a commit of which everybody here will be told.
  package var isTelling: Bool { thread.load(ordering: .relaxed) == currentThread() }
}
