import StorageInterface
import StoreValues
import Synchronization

/// Notifies contexts of newer versions, whoever committed them: this context, another thread, another process. One per open
/// engine.
///
/// A context gets at most one pending turn (`PendingTurn`), however many commits happen before it runs. Safe from any thread.
public final class CommitNotifier: Sendable {
  private struct State {
    var subscribers: [UInt64: PendingTurn] = [:]
    var nextID: UInt64 = 0
    var listener: (any CommitListener)?
  }

  private let engine: any StorageEngine
  private let state = Mutex(State())
  /// Knows of which commits subscribers are told without the engine's bell.
  package let teller = CommitTeller()

  /// Listens to the engine from the first subscription on.
  public init(_ engine: any StorageEngine) { self.engine = engine }

  /// Runs `turn` on `context` after each commit from now on, once for several commits in quick succession. The turn compares
  /// versions itself and may find nothing new.
  ///
  /// Ends with `CommitSubscription.stop()` or with the subscription's last reference. Throws if the engine cannot listen.
  public func subscribe(
    _ context: DeliveryContext, _ turn: @escaping @Sendable () -> Void
  ) throws(StorageError) -> CommitSubscription {
    let subscriber = PendingTurn(context, turn)
    let id = state.withLock { state in
      state.nextID += 1
      state.subscribers[state.nextID] = subscriber
      return state.nextID
    }
    // Only now: the last other subscriber may leave at any moment, which removes the listener unless there is another
    // subscriber.
    do throws(StorageError) {
      try listenIfNeeded()
    } catch {
      remove(id)
      throw error
    }
    return CommitSubscription { [weak self] in
      subscriber.stop()
      self?.remove(id)
    }
  }

  /// Wakes every subscriber, as after a commit. For users of the engine that know of a commit before it is announced.
  package func wakeAll() {
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for subscriber in subscribers { subscriber.ask() }
  }

  private func listenIfNeeded() throws(StorageError) {
    if state.withLock({ $0.listener != nil }) { return }
    let listener = try engine.addCommitListener(unless: { [teller] in teller.isTelling }) { [weak self] in self?.wakeAll() }
    let spare: (any CommitListener)? = state.withLock { state in
      if state.listener != nil { return listener }
      state.listener = listener
      return nil
    }
    spare?.stop()
  }

  private func remove(_ id: UInt64) {
    let idle: (any CommitListener)? = state.withLock { state in
      state.subscribers[id] = nil
      guard state.subscribers.isEmpty else { return nil }
      defer { state.listener = nil }
      return state.listener
    }
    idle?.stop()
  }

  deinit { state.withLock { $0.listener }?.stop() }
}

/// One subscription to commits; ends with its last reference.
public final class CommitSubscription: Sendable {
  private let onStop: Mutex<(@Sendable () -> Void)?>

  init(_ onStop: @escaping @Sendable () -> Void) { self.onStop = Mutex(onStop) }

  /// Ends the subscription. On the subscriber's own context no turn begins after this returned. Idempotent, any thread.
  public func stop() {
    let action = onStop.withLock { action in
      defer { action = nil }
      return action
    }
    action?()
  }

  deinit { stop() }
}
