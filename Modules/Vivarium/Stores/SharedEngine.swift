import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// What all stores of one open file share in this process: the engine, who hears of its commits, and the order of its writes.
final class SharedEngine: Sendable {
  let engine: any StorageEngine
  /// Tells this open file from all others of the process, also from those that were closed.
  let number = SharedEngine.count.wrappingAdd(1, ordering: .relaxed).newValue
  let notifier: CommitNotifier
  let results: ResultNotifier
  /// Taken to commit: whoever holds it reads the version it has just made.
  let commitGate = Mutex(())
  let writers: WriterQueue
  let versions: HeldVersions
  /// Of a file that has none of its own: one that was never opened for writing since files have them.
  let localIdentity = StoreIdentity()
  let syncer: CommitSyncer
  let residents = ResidentStores()

  private static let count = Atomic<UInt64>(0)
  private struct Weak { weak var shared: SharedEngine? }
  /// A few, one for an open file.
  private static let open = Mutex<[Weak]>([])

  private init(_ engine: any StorageEngine) {
    self.engine = engine
    notifier = CommitNotifier(engine)
    results = ResultNotifier(engine)
    syncer = CommitSyncer(engine)
    versions = HeldVersions(engine)
    writers = WriterQueue(engine)
  }

  static func of(_ engine: any StorageEngine) -> SharedEngine {
    open.withLock { open in
      for known in open { if let shared = known.shared, shared.engine === engine { return shared } }
      open.removeAll { $0.shared == nil }
      let made = SharedEngine(engine)
      open.append(Weak(shared: made))
      return made
    }
  }
}
