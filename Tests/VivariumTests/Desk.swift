import Dispatch
import Testing
import Vivarium
import VivariumTestSupport

/// A store on a queue, and what its observers count.
final class Desk: @unchecked Sendable {
  // Sound because the store and the tokens are used inside `queue.sync` alone, and blocks run on that queue.
  let queue = DispatchQueue(label: "test.desk")
  let heard = Signal()
  var store: Store?
  var tokens: [NotificationToken] = []

  @discardableResult
  func use<R>(_ body: (Store) throws -> R) throws -> R { try queue.sync { try body(#require(store)) } }

  init(_ configuration: Store.Configuration) throws {
    store = try queue.sync { try Store(configuration, queue: queue) }
  }

  /// Everything that was scheduled on the queue has run, and what that scheduled.
  func settle() throws {
    for _ in 0..<3 {
      queue.sync {}
      _ = try use { $0.notifierWork }
    }
    queue.sync {}
  }
}
