import Notifications
import Synchronization

/// A block of the program, which its store retains until the observation ends.
///
/// The block's captures often lead back to the store, so a stopped observer could keep all of it alive. If the store takes turns,
/// the next one releases stopped observers. If it takes none (its blocks run inside `refresh()`, its actor is gone, or the thread of
/// its run loop has ended, or ends before), that might never happen, so stopping the token releases the block, or the thread's end.
final class StoppableBlock<Input>: @unchecked Sendable {
  // Sound because only the store's context creates and calls the block; other threads only remove the reference, under the lock.
  // Reference counts are atomic, and a running call holds a reference of its own. The thread that drops the last reference destroys
  // the block and whatever only the block retained.
  private let lock = Mutex(())
  private var block: ((Input) -> Void)?

  init(_ block: @escaping (Input) -> Void) { self.block = block }

  func call(_ input: Input) {
    let block = lock.withLock { _ in self.block }
    block?(input)
  }

  /// Safe from any thread.
  func drop() {
    let old = lock.withLock { _ in
      defer { block = nil }
      return block
    }
    _ = old  // released outside the lock
  }

  /// Releases the block with the token if no turn of the store would.
  func end(with token: NotificationToken, of store: Store) -> NotificationToken {
    let stops = store.observing.stops
    token.alsoOnStop { stops.home.withLock { $0 }.unlessTurnComes { self.drop() } }
    return token
  }
}

extension DeliveryContext {
  /// Runs `other` if no turn comes any more: at once, or when the run loop's thread ends before it has taken one.
  func unlessTurnComes(_ other: @escaping @Sendable () -> Void) {
    switch self {
    case .manual: other()
    case .actor(let weak): if weak.actor == nil { other() }
    case .queue: break
    case .runLoop(let loop): loop.unlessTurnComes(other)
    }
  }
}
