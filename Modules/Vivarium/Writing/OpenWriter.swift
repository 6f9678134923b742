import Dispatch
import Foundation
import Notifications
import StorageInterface
import Synchronization

/// The store that has a write open, and where: to know of waiting that would never end.
///
/// `@unchecked` for the thread alone, as all else here is Sendable. Proof: every property is a `let`, so nothing is written
/// once it is made; and of the thread nothing is used but its identity (`===`) and its count of references, which is atomic.
/// It is kept so that no later thread can have its address meanwhile.
struct OpenWriter: @unchecked Sendable {
  fileprivate let id: ObjectIdentifier
  private let home: DeliveryContext
  private let thread = Thread.current
  private let task = OpenWriter.currentTask

  init(_ store: Store) {
    id = ObjectIdentifier(store)
    home = store.home
  }

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Whether the write can only go on where the caller stands and would wait.
  func isHeldUp(by waiting: DeliveryContext) -> Bool {
    if home.isSame(as: waiting) { return true }
    switch home {
    case .queue(let queue): return DispatchQueue.getSpecific(key: Store.currentQueue) == ObjectIdentifier(queue)
    case .runLoop(let loop): return loop.isCurrent
    // Tasks change threads, and threads tasks.
    case .manual: return thread === Thread.current && task == OpenWriter.currentTask
    case .actor: return false
    }
  }
}

extension SharedEngine {
  func began(_ store: Store) { openWriter.withLock { $0 = OpenWriter(store) } }

  /// The write of a store is over. Idempotent.
  func ended(_ store: Store) { openWriter.withLock { if $0?.id == ObjectIdentifier(store) { $0 = nil } } }

  /// Throws `.alreadyInWrite` where waiting for the open write would be waiting for oneself, and nothing would end it.
  func refuseSelfDeadlock(_ home: DeliveryContext, _ deadline: Deadline) throws(StoreError) {
    guard deadline.remaining == nil, openWriter.withLock({ $0 })?.isHeldUp(by: home) == true else { return }
    throw StoreError(
      .alreadyInWrite, "Another store of this file has a write open where this one would wait for its end.",
      remedy: "Commit or cancel that write first, write within it, or give the store a 'writeTimeout'.")
  }
}
