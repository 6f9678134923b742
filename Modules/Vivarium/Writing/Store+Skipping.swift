import ChangeTracker
import Notifications
import StorageInterface

// A commit may leave observers out, because their interface shows already what it wrote. The notifier moves what their tokens were given
// (`ResultNotifier.commit`); what observers keep of it by themselves, and only they can bring along, follows here: at once in the store
// that wrote, and right before the next call in others.

extension Store {
  /// Before a write of which some observers are not notified: those that have not had their first call have it, so that it shows what was
  /// before. Waits for it as `refresh()` does; nothing where all of them have had it.
  func notifyFirst(_ tokens: [NotificationToken], orAll: Bool) {
    let isWaitedFor = observing.results.contains { observer in
      observer.isActive && !observer.wasNotified && (orAll || tokens.contains { observer.isOf($0) })
    }
    if isWaitedFor, writing == nil { deliverFirstResults() }
  }

  /// After a commit, of whose version the store reads now, and of which some observers are not notified.
  func followMoves(of tokens: [NotificationToken], orAll: Bool) {
    if orAll { for observer in observing.watches.values { observer.rebase(self) } }
    for token in tokens {
      guard let watch = token.subject as? ObjectWatch, watch.file == shared.number else { continue }
      observing.watches[ObjectIdentifier(watch)]?.rebase(self)
    }
    for observer in observing.results where observer.isActive && (orAll || tokens.contains { observer.isOf($0) }) {
      if observer.keepsOldValues { (observer.movedTo, observer.oldSinceMove) = (snapshot.version, nil) }
      guard let observation = observer.observation, let follow = observer.follow else { continue }
      // Where something waits, what is reported next says what the rows were.
      guard !observer.wasNotified || shared.results.hasNothing(for: observation) else { continue }
      _ = observation.takeMove()
      follow(.here, self)
    }
  }
}

extension ResultObserver {
  /// Whether it is this token's.
  func isOf(_ token: NotificationToken) -> Bool { observation.map { $0 === token.subject } ?? false }

  /// Right before it is notified of a change: follows where commits led of which it was not notified.
  func followMove(before change: ResultChange, in store: Store) {
    guard let follow, observation?.takeMove() == true else { return }
    follow(.rows(change.knownKeys), store)
  }
}
