import StorageInterface
import StoreValues

/// Notifies the listeners of a store of commits.
///
/// A ring has no content: listeners compare versions. Lost rings (a writer killed between its commit and its ring) are made up
/// for by a check once a second if other processes can write.
public protocol Doorbell: AnyObject, Sendable {
  /// Wakes everybody who listens. Cheap, never waits, never fails. For what nobody may have been told of, such as a commit of a process
  /// that was killed before it rang.
  func ring()

  /// Call after each commit, on the thread that makes it. As `ring()`, but where all who listen to this bell are told of the commit
  /// anyway, and nobody listens elsewhere, no thread is woken.
  func ringForCommit()

  /// Calls `body` on a thread of the bell soon after `version` has changed, until the listener is stopped or dropped. `version`
  /// is called on that thread at each ring and once a second; nil means "unknown". Both must be quick, and must not hold the
  /// engine that owns the bell strongly.
  ///
  /// `stop` waits for a call running on another thread, so it must not be called under a lock that `body` takes. From within
  /// `body` it returns at once.
  ///
  /// - Parameter isTold: as in `StorageEngine.addCommitListener(unless:_:)`.
  func listen(
    unless isTold: @escaping @Sendable () -> Bool, version: @escaping @Sendable () -> Version?,
    _ body: @escaping @Sendable () -> Void
  ) -> any CommitListener
}
