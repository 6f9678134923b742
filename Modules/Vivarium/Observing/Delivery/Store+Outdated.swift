import Notifications
import StorageInterface

// A newer program, or a newer store of this one, may migrate the file while this store is open: then this store's knowledge of
// columns is out of date. It goes on reading its version, cannot write, and notifies its observers.

extension Store {
  /// Reads this snapshot from now on. `.newerSchema`, permanently, if a newer program has migrated the snapshot's file; the
  /// snapshot is then ended, and no observer is notified yet.
  func follow(_ next: any ReadTransaction) throws(StoreError) {
    if let refusal = configuration.refusal(of: next.catalog) {
      next.end()
      reader.end(refusal)
      throw refusal
    }
    move(to: next)
  }

  /// Checks whether a newer program has migrated the file, without moving.
  func lookAhead() {
    guard outdated == nil, let newest = try? shared.engine.beginRead() else { return }
    if let refusal = configuration.refusal(of: newest.catalog) { reader.end(refusal) }
    newest.end()
  }

  /// Reports to each observer, once and in its last call, why no more changes follow. Observers of the store have no case for
  /// errors, and hear that there is a version which they cannot see.
  func notifyOutdated(_ error: StoreError) {
    let outer = observing.beginNotifying()
    defer { observing.notifying = outer }
    // Commits that this store made before.
    checkCommittedProperties()
    notifyOfChange()
    if reader.notifiesOutdated() {
      misuse(error)
      notify(.refreshRequired, of: (try? shared.engine.latestVersion()) ?? snapshot.version.next)
    }
    endObservations(error)
    notifyOfFaults()
  }

  /// Gives each observer the error to report, and stops its observation in the notifier.
  private func endObservations(_ error: StoreError) {
    for observer in observing.results where observer.isActive && observer.fault == nil {
      observer.fault = error
      observer.observation.map(shared.results.stop)
    }
    // In the order in which they began, as with every other notification.
    let watching = observing.watches.values.sorted { ($0.watch?.number ?? 0) < ($1.watch?.number ?? 0) }
    observing.watches = [:]
    observing.resting = [:]
    for observer in watching where observer.flag.isActive {
      observer.fault = error
      observer.watch.map(shared.results.stop)
      observing.faulty.append(observer)
    }
  }
}
