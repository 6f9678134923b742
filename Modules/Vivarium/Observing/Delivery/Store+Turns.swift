import Notifications
import StorageInterface
import StoreValues
import Synchronization

extension Store {
  /// Runs blocks on the store's context, from any thread; nil if the store has no context that can run them.
  package var scheduler: (@Sendable (@escaping @Sendable () -> Void) -> Void)? {
    let home = home
    if case .manual = home { return nil }
    return { home.schedule($0) }
  }

  /// Notifies observers of what is ready, without waiting: for an observer that listens only when polled. Does nothing inside a
  /// write or an observer's block.
  package func deliverReady() {
    guard mayNotify, !observing.isNotifyingProperty else { return }
    deliver(.none)
  }

  /// Suspends until the store is at a version or a later one, and its observers were notified of it, first calls included. Without
  /// a version: the newest one at the time of the call. For tests, and for code that continues when the interface is up to date.
  ///
  /// ```swift
  /// try background.write { try background.add(Dog(name: "Rex")) }
  /// try await store.waitUntilNotified(of: background.version)
  /// ```
  ///
  /// Does not wait for observers that rest (`throttle`). Refreshes if `autorefresh` is off, or after `invalidate()`. Must not be
  /// called in a write. `.wrongContext` if the store takes no turns by itself, where `refresh()` does the same; `.newerSchema` if a
  /// newer program has migrated the file, whose versions never arrive here; `.cancelled`.
  public func waitUntilNotified(
    of version: Version? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws(StoreError) {
    let newest: Version
    if let version { newest = version } else {
      newest = try storing { () throws(StorageError) in try shared.engine.latestVersion() }
    }
    while true {
      if !configuration.autorefresh || isInvalidated { refresh() }
      if isNotified(of: newest) { return }
      if let outdated { throw outdated }
      if Task.isCancelled { throw StoreError(.cancelled, "The task that waited to be notified was cancelled.") }
      try await untilTurn(isolation: isolation)
    }
  }

  private func isNotified(of version: Version) -> Bool {
    // Observers of the store are notified even if there are no others.
    guard observing.notifiedVersion >= version, snapshot.version >= version, !isInvalidated else { return false }
    // New observers of objects and collections may still wait for their first call, or for a change committed before they began.
    if observing.place?.isStarting == true { return false }
    let isDue = { (id: ObjectIdentifier, observer: WatchObserver) in
      observer.flag.isActive && observer.watch?.isPending == true && (self.observing.resting[id] == nil || !observer.wasNotified)
    }
    if observing.watches.contains(where: isDue) { return false }
    return observing.results.allSatisfy { !$0.isActive || $0.wasNotified || !$0.isListening() }
  }

  /// Suspends until the store has had a turn, or the task is cancelled. Call it on the store's context. `.wrongContext` if the
  /// store takes no turns by itself.
  package func untilTurn(isolation: isolated (any Actor)?) async throws(StoreError) {
    let hadTurns = scheduler != nil
    bind(isolation)
    if scheduler == nil { throw .noContext }
    let waiting = TurnWaiting()
    observing.waiters[ObjectIdentifier(waiting)] = { waiting.end() }
    // Commits made before the store had a context caused no turn.
    if !hadTurns { scheduleTurnIfBehind() }
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { waiting.begin($0) }
    } onCancel: {
      waiting.end()
    }
    observing.waiters[ObjectIdentifier(waiting)] = nil
  }
}

/// A wait for a turn or for the cancellation of the task, whichever comes first. Safe from any thread.
private final class TurnWaiting: Sendable {
  private enum Phase {
    case before
    case waiting(CheckedContinuation<Void, Never>)
    case over
  }

  private let phase = Mutex(Phase.before)

  func begin(_ continuation: CheckedContinuation<Void, Never>) {
    let isOver = phase.withLock { phase in
      if case .over = phase { return true }
      phase = .waiting(continuation)
      return false
    }
    if isOver { continuation.resume() }
  }

  func end() {
    let waiting: CheckedContinuation<Void, Never>? = phase.withLock { phase in
      defer { phase = .over }
      if case .waiting(let continuation) = phase { return continuation }
      return nil
    }
    waiting?.resume()
  }
}
