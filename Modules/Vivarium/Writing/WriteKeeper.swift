import Foundation
import StorageInterface
import Synchronization

/// A store that keeps the right to write while it tells its observers of what came before, and the thread they run on.
struct WriteKeeper: @unchecked Sendable {
  // Sound because the store is used on `thread` alone, by blocks that it calls itself, and is alive as long as it calls
  // them; from other threads its reference is compared and nothing else.
  unowned(unsafe) let store: Store
  private let thread = Thread.current
  /// The store's name, which can be compared when it is gone.
  let id: ObjectIdentifier

  init(_ store: Store) {
    self.store = store
    id = ObjectIdentifier(store)
  }

  var isCaller: Bool { thread === Thread.current }
}

extension SharedEngine {
  /// The right to write that another store of the file keeps further down on this thread. Waiting for it would be waiting
  /// for one's own caller; that one goes for a new right afterwards.
  func takeFromCaller() -> (any WriteTransaction)? {
    guard let keeper = keeper.withLock({ $0 }), keeper.isCaller, let kept = keeper.store.reserved else { return nil }
    keeper.store.reserved = nil
    return kept
  }

  /// Runs `body` in the open write of a store.
  func running<R>(_ owner: WriteKeeper, _ body: () throws -> R) rethrows -> R {
    writer.withLock { $0 = owner }
    // A body may commit by itself, and another store, of another thread too, may write before it returns.
    defer { writer.withLock { if $0?.id == owner.id { $0 = nil } } }
    return try body()
  }

  /// Whether a write of the file is open further up on this thread.
  func isWriting() -> Bool {
    // On this thread its owner is still further up, and alive.
    guard let writer = writer.withLock({ $0 }), writer.isCaller else { return false }
    return writer.store.writing != nil || writer.store.heldWrite != nil
  }
}
