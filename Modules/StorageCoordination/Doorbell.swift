import StorageInterface
import StoreValues

/// Notifies everybody who listens to a store that a commit happened.
///
/// A ring says no more than "look": listeners compare versions. Lost rings (a writer killed between its commit
/// and its ring) are made up for once a second where other processes can write.
public protocol Doorbell: AnyObject, Sendable {
  /// Call after each commit. Cheap, never waits, never fails.
  func ring()

  /// Calls `body` on a thread of the bell's soon after `version` has moved, until the listener is stopped or
  /// dropped. `version` is asked on that thread at each ring and once a second; nil means "cannot say". Both
  /// must be quick, and must not hold the engine that owns the bell strongly.
  ///
  /// `stop` waits for a call that is running on another thread, so it must not be called under a lock that
  /// `body` takes. From within `body` it returns at once.
  func listen(
    version: @escaping @Sendable () -> Version?, _ body: @escaping @Sendable () -> Void
  ) -> any CommitListener
}
