import Synchronization
import Vivarium

/// The replicators of the files that are open in this process: one for each, whichever store asks.
private enum OpenReplicators {
  private struct Weak { weak var replicator: Replicator? }
  private static let open = Mutex<[UInt64: Weak]>([:])

  /// That of a file; made and started where there is none.
  static func replicator(of file: SharedFile, _ make: () -> Replicator) -> Replicator {
    let (replicator, isNew) = open.withLock { open in
      if let known = open[file.number]?.replicator { return (known, false) }
      let made = make()
      open = open.filter { $0.value.replicator != nil }
      open[file.number] = Weak(replicator: made)
      return (made, true)
    }
    if isNew { Task { await replicator.startIfStarting() } }
    return replicator
  }
}

extension Capture: StoreCompanion {
  func attachment(to file: SharedFile) -> (any AnyObject & Sendable)? {
    guard let remote = configuration.remote else { return nil }
    let options = configuration.options
    return OpenReplicators.replicator(of: file) {
      Replicator(file, path: remote.path, connector: remote.connector, credentials: remote.user, options: options, isStarting: true)
    }
  }
}

extension Store {
  /// What keeps the store's file the same as the server's, where `StoreConfiguration.sync` names one: its state, its progress and its
  /// errors. nil for any other store, and for one that was opened for reading alone.
  public var sync: Replicator? { attachment as? Replicator }
}
