import StorageInterface

/// The right to write a store, granted to one holder at a time: first come, first served.
///
/// **Threads.** Every call is safe from any thread. The lock is not recursive: a thread that holds it and acquires it again
/// waits for itself, until the deadline.
public protocol WriterLock: Sendable {
  /// Waits for the right to write, in request order.
  ///
  /// Throws `.writeTimeout` (scope statement) past the deadline, `.forked` in a child process, and `.io` if the system call
  /// fails. After an error the caller holds nothing and is no longer waiting.
  func acquire(_ deadline: Deadline) throws(StorageError) -> WriterHold
}

extension StorageError {
  /// The error of `acquire` past its deadline.
  static var writeTimeout: StorageError {
    StorageError(
      .writeTimeout, .statement, "Another writer held the store until the deadline.",
      remedy: "Try again, give writes a longer timeout, or keep write transactions short.")
  }
}
