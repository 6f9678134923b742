import Notifications
import Synchronization

/// A block of the program's, which its store keeps until the observation ends.
///
/// What the block captures often leads back to the store: an observer that nobody calls any more would keep all of it. Where the store
/// takes turns, the next one lets go of stopped observers; where it takes none (its blocks run inside `refresh()`, or its actor is gone),
/// nobody might ever come by, and so whoever stops the token lets go of the block.
final class StoppableBlock<Input>: @unchecked Sendable {
  // Sound because the block is made and called in the store's context alone, and all that other threads do is to take the reference away,
  // under the lock: references are counted atomically, and a call that runs has one of its own. Who takes the last one away ends the block,
  // and what it alone held, on his thread.
  private let lock = Mutex(())
  private var block: ((Input) -> Void)?

  init(_ block: @escaping (Input) -> Void) { self.block = block }

  func call(_ input: Input) {
    let block = lock.withLock { _ in self.block }
    block?(input)
  }

  /// Any thread.
  func drop() {
    let old = lock.withLock { _ in
      defer { block = nil }
      return block
    }
    _ = old  // let go of outside of the lock
  }

  /// Lets go of the block with the token, where no turn of the store would.
  func end(with token: NotificationToken, of store: Store) -> NotificationToken {
    let stops = store.observing.stops
    token.alsoOnStop { if !stops.home.withLock({ $0.takesTurns }) { self.drop() } }
    return token
  }
}

extension DeliveryContext {
  /// Whether what is scheduled runs, now and later.
  var takesTurns: Bool {
    switch self {
    case .manual: false
    case .actor(let weak): weak.actor != nil
    case .queue, .runLoop: true
    }
  }
}
