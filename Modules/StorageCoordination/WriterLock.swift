import StorageInterface

/// The right to write a store, given out one at a time and first come first served.
///
/// **Threads.** Every call is safe from any thread. The lock is not recursive: a thread that holds it and asks
/// again waits for itself, until the deadline.
public protocol WriterLock: Sendable {
  /// Waits for the right to write, in the order of asking.
  ///
  /// Throws `.writeTimeout` (scope statement) past the deadline, `.forked` in a child process, and `.io` when
  /// the system refuses. After a throw the caller holds nothing and waits no more.
  func acquire(_ deadline: Deadline) throws(StorageError) -> WriterHold
}

extension StorageError {
  /// What `acquire` throws past its deadline.
  static var writeTimeout: StorageError {
    StorageError(
      .writeTimeout, .statement, "Another writer held the store until the deadline.",
      remedy: "Try again, give writes a longer timeout, or keep write transactions short.")
  }
}
