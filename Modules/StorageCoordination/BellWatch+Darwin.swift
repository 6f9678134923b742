#if canImport(Darwin)
import CVivariumSystem
import Darwin
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

/// Watches bells, with a vnode source each on one serial queue, and compares versions once a second.
final class BellWatch: Sendable {
  /// Owns the sources of one listener, which end with it.
  private final class Sources: Sendable {
    private let path: String
    private let queue: DispatchQueue
    private let look: @Sendable () -> Void
    // Safe to share: set once in `init`, and cancelling is safe from any thread.
    nonisolated(unsafe) private let tick: any DispatchSourceTimer
    // Safe without a lock: `init` writes it before the timer is activated, which comes before the timer's first handler; from then on only
    // that handler and the block of `cancel` use it, both on the serial queue.
    nonisolated(unsafe) private var bell: (any DispatchSourceFileSystemObject)?

    init(path: String, queue: DispatchQueue, _ look: @escaping @Sendable () -> Void) {
      (self.path, self.queue, self.look) = (path, queue, look)
      tick = DispatchSource.makeTimerSource(queue: queue)
      tick.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(200))
      watch()
      tick.setEventHandler { [weak self] in
        // A bell that was missing may be there now. Before versions are compared: a commit in between rings.
        self?.watch()
        look()
      }
      tick.activate()
    }

    private func watch() {
      if bell != nil || tick.isCancelled { return }
      var number: Int32 = 0
      let file = cs_open_side(path, false, false, 0, &number)
      if file < 0 { return }
      let source = DispatchSource.makeFileSystemObjectSource(fileDescriptor: file, eventMask: .write, queue: queue)
      source.setEventHandler(handler: look)
      source.setCancelHandler { close(file) }
      source.activate()
      bell = source
    }

    func cancel() {
      tick.cancel()
      // Behind a handler that is at it already: it may make a bell still.
      queue.async { [self] in bell?.cancel() }
    }
  }

  static let current = BellWatch()
  private let queue = DispatchQueue(label: "vivarium.bells", qos: .userInitiated)

  func listen(
    path: String, version: @escaping @Sendable () -> Version?, _ body: @escaping @Sendable () -> Void
  ) -> any CommitListener {
    let slot = SourceSlot()
    let listener = BellListener(version: version, body: body) { slot.cancel() }
    slot.fill(Sources(path: path, queue: queue) { [weak listener] in listener?.check() }.cancel)
    // For a commit between the listener's first look and here.
    queue.async { [weak listener] in listener?.check() }
    return listener
  }
}

/// Holds the action that ends a listener's sources, until it is run, once.
private final class SourceSlot: Sendable {
  private let action = Mutex<(@Sendable () -> Void)?>(nil)

  func fill(_ cancel: @escaping @Sendable () -> Void) { action.withLock { $0 = cancel } }

  func cancel() {
    let cancel = action.withLock { action in
      defer { action = nil }
      return action
    }
    cancel?()
  }
}
#endif
