import Dispatch
import StorageInterface
import StoreValues
import Synchronization

/// The doorbell of a store that only this process can see.
public final class LocalDoorbell: Doorbell {
  private struct State {
    var listeners: [(entry: WeakBellListener, isTold: @Sendable () -> Bool)] = []
    var nextID: UInt64 = 0
    /// The queue is about to check: further rings need no other turn.
    var isRung = false
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "vivarium.doorbell", qos: .userInitiated)

  public init() {}

  public func ring() {
    let isNeeded = state.withLock { state in
      guard !state.listeners.isEmpty, !state.isRung else { return false }
      state.isRung = true
      return true
    }
    if isNeeded { queue.async { [self] in call() } }
  }

  public func ringForCommit() {
    let listeners = state.withLock { $0.listeners }
    if listeners.contains(where: { !$0.isTold() }) { ring() }
  }

  public func listen(
    unless isTold: @escaping @Sendable () -> Bool, version: @escaping @Sendable () -> Version?,
    _ body: @escaping @Sendable () -> Void
  ) -> any CommitListener {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let listener = BellListener(version: version, body: body) { [weak self] in
      // Released without the lock: what the question keeps may end with it.
      _ = self?.state.withLock { state in
        state.listeners.firstIndex { $0.entry.id == id }.map { state.listeners.remove(at: $0) }
      }
    }
    state.withLock { $0.listeners.append((WeakBellListener(listener: listener, id: id), isTold)) }
    // For a commit between the listener's first check and here.
    ring()
    return listener
  }

  private func call() {
    let listeners = state.withLock { state in
      state.isRung = false
      return state.listeners
    }
    for listener in listeners { listener.entry.listener?.check() }
  }
}
