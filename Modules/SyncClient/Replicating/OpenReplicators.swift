import ChangeTracker
import StorageInterface
import Synchronization
import Vivarium

/// The replicators of the files that are open in this process: one per file, shared by its stores.
private enum OpenReplicators {
  private struct Weak { weak var replicator: Replicator? }
  private static let open = Mutex<[UInt64: Weak]>([:])

  /// The replicator of a file; made and started if there is none.
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

  func replicates(_ typeName: String) -> Bool { !localTypes.contains(typeName) }

  func becomeAnother(_ write: RecordedTransaction) throws(StorageError) {
    guard let sides = write.transaction.writePowers.sides, try ReplicaStanding.read(sides) != nil else { return }
    try catchUp(write)
    var changes = try RemoteChanges(write)
    try changes.beginAnew(as: configuration.replica ?? ReplicaStanding.drawn().replica)
    try changes.finish()
  }
}

extension Store {
  /// The replicator of the store's file, with its state, progress and errors, if `StoreConfiguration.sync` names a server. nil for any
  /// other store, and for one opened only for reading.
  public var sync: Replicator? { attachment as? Replicator }
}
