import ChangeTracker
import Notifications
import StorageInterface

// A commit may skip observers whose interface already shows what it wrote. The notifier moves the known state of their tokens
// (`ResultNotifier.commit`). The state that only the observers keep is updated here: at once in the store that wrote, and right
// before the next call in others.

extension Store {
  /// Before a write that skips some observers: makes their first call if it is due, so that it shows the state before the write.
  /// Waits for it as `refresh()` does; does nothing if all were called already.
  func notifyFirst(_ tokens: [NotificationToken], orAll: Bool) {
    let isWaitedFor = observing.results.contains { observer in
      observer.isActive && !observer.wasNotified && (orAll || tokens.contains { observer.isOf($0) })
    }
    if isWaitedFor, writing == nil { deliverFirstResults() }
  }

  /// After a commit that skipped some observers, whose version the store now reads.
  func followMoves(of tokens: [NotificationToken], orAll: Bool) {
    if orAll { for observer in observing.watches.values { observer.followMove(in: self) } }
    for token in tokens {
      guard let watch = token.subject as? ObjectWatch, watch.file == shared.number else { continue }
      observing.watches[ObjectIdentifier(watch)]?.followMove(in: self)
    }
    for observer in observing.results where observer.isActive && (orAll || tokens.contains { observer.isOf($0) }) {
      if observer.keepsOldValues { (observer.movedTo, observer.oldSinceMove) = (snapshot.version, nil) }
      guard let observation = observer.observation, let follow = observer.follow else { continue }
      // If a change is pending, the next report says what the rows were.
      guard !observer.wasNotified || shared.results.hasNothing(for: observation) else { continue }
      _ = observation.takeMove()
      follow(.here, self)
    }
  }
}

extension ResultObserver {
  /// Whether the observer belongs to this token.
  func isOf(_ token: NotificationToken) -> Bool { observation.map { $0 === token.subject } ?? false }

  /// Called right before a notification of a change: follows the commits that were skipped.
  func followMove(before change: ResultChange, in store: Store) {
    guard let follow, observation?.takeMove() == true else { return }
    follow(.rows(change.knownKeys), store)
  }
}
