import Synchronization

/// The right to write, held. Let go by `release`, by dropping the last reference, and by the end of the process.
///
/// Not bound to a thread: any thread may release it.
public final class WriterHold: Sendable {
  /// The holder before ended without releasing: it was killed or crashed. The store's data is whole (its
  /// engine sees to that), but the dead writer may have committed without ringing the bell.
  public let followsDeath: Bool
  private let letGo: Mutex<(@Sendable () -> Void)?>

  init(followsDeath: Bool, letGo: @escaping @Sendable () -> Void) {
    self.followsDeath = followsDeath
    self.letGo = Mutex(letGo)
  }

  deinit { release() }

  /// Gives the right to the next in line. Idempotent.
  public func release() {
    let action = letGo.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
  }
}
