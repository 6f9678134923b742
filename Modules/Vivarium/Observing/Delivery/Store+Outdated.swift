import Notifications
import StorageInterface

// A newer program, or a newer store of this one, migrates the file while this store is open: what this one knows of columns
// holds no more. It reads on in its version and cannot write, and who observes is notified.

extension Store {
  /// Reads this snapshot from now on. `.newerSchema`, for good, where it is of a file that a newer program has migrated; the
  /// snapshot has ended then, and nobody is notified yet.
  func follow(_ next: any ReadTransaction) throws(StoreError) {
    if let refusal = configuration.refusal(of: next.catalog) {
      next.end()
      reader.end(refusal)
      throw refusal
    }
    move(to: next)
  }

  /// Looks whether a newer program has migrated the file, and stays where it is.
  func lookAhead() {
    guard outdated == nil, let newest = try? shared.engine.beginRead() else { return }
    if let refusal = configuration.refusal(of: newest.catalog) { reader.end(refusal) }
    newest.end()
  }

  /// Says to all who observe why they will hear nothing more: each once, and last. Observers of the store have no word for
  /// it, and hear that there is a version which they do not see.
  func notifyOutdated(_ error: StoreError) {
    let outer = observing.beginNotifying()
    defer { observing.notifying = outer }
    // What this store wrote itself before.
    checkCommittedProperties()
    notifyOfChange()
    if reader.notifiesOutdated() {
      misuse(error)
      notify(.refreshRequired, of: (try? shared.engine.latestVersion()) ?? snapshot.version.next)
    }
    endObservations(error)
    notifyOfFaults()
  }

  /// From now on observers have an error to report, and the notifier keeps nothing for them.
  private func endObservations(_ error: StoreError) {
    for observer in observing.results where observer.isActive && observer.fault == nil {
      observer.fault = error
      observer.observation.map(shared.results.stop)
    }
    // As they are notified of everything else: in the order in which they began.
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
