import Foundation
import Storage
import Synchronization

/// A store that keeps the right to write while it tells its observers of what came before, and the thread they run on.
struct WriteKeeper: @unchecked Sendable {
  // Sound because the store is used on `thread` alone, by blocks that it calls itself, and is alive as long as it calls
  // them; from other threads its reference is compared and nothing else.
  unowned(unsafe) let store: Store
  private let thread = Thread.current

  init(_ store: Store) { self.store = store }

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
}
