import Dispatch
import MessageSamples
import StoreMessages
import Synchronization
import Vivarium
import VivariumTestSupport

/// Counts what waits, on a queue of its own.
final class Observer: @unchecked Sendable {
  // Sound because it is used inside `queue.sync` alone, and its block runs there.
  private let store: Store
  private var token: NotificationToken?

  init(_ configuration: Store.Configuration, _ queue: DispatchQueue, _ changed: Signal) throws {
    store = try Store(configuration, queue: queue)
    token = store.observe { _, _ in changed.fire() }
    changed.fire()
  }

  /// Also what was answered and some name still has to handle.
  var pending: Int {
    store.refresh()
    return Samples.pendingCount(store) + store.objects(MessageReceipt.self).where { $0.owed != "" }.count
  }

  /// The messages for which the handlers of a name have done nothing.
  func open(for name: String) -> Int {
    store.refresh()
    return store.objects(Work.self).count - Samples.deeds(of: name, in: store).count
  }

  func end() { token?.stop() }
}

/// A value behind a lock.
final class Locked<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  func with<R: Sendable>(_ body: (inout Value) -> R) -> R { value.withLock { body(&$0) } }
}
