import Synchronization

/// The right to write, while held. Released by `release`, with the last reference, or when the process ends.
///
/// Not bound to a thread: any thread may release it.
public final class WriterHold: Sendable {
  /// The previous holder ended without releasing: it was killed or crashed. The store's data are intact (its engine ensures
  /// that), but the dead writer may have committed without ringing the bell.
  public let followsDeath: Bool
  private let letGo: Mutex<(@Sendable (_ isWhole: Bool) -> Void)?>

  init(followsDeath: Bool, letGo: @escaping @Sendable (_ isWhole: Bool) -> Void) {
    self.followsDeath = followsDeath
    self.letGo = Mutex(letGo)
  }

  deinit { release() }

  /// Passes the right to the next waiter. Idempotent.
  public func release() { release(isWhole: true) }

  /// Passes the right on as if the holder had died: what it should have repaired is not, and the next one, which follows a death, sees to
  /// it.
  public func abandon() { release(isWhole: false) }

  private func release(isWhole: Bool) {
    let action = letGo.withLock { action in
      defer { action = nil }
      return action
    }
    action?(isWhole)
  }
}
