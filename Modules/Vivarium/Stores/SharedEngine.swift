import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// The state that all stores of one open file share in this process: the engine, the observers of its commits, the order of writes.
final class SharedEngine: Sendable {
  let engine: any StorageEngine
  /// Identifies this open file in the process, also among files that were closed.
  let number = SharedEngine.count.wrappingAdd(1, ordering: .relaxed).newValue
  let notifier: CommitNotifier
  let results: ResultNotifier
  /// Held during a commit: the holder reads exactly the version that it made.
  let commitGate = Mutex(())
  let writers: WriterQueue
  let versions: HeldVersions
  /// The identity of a file without one of its own: one that was never opened for writing since files have identities.
  let localIdentity = StoreIdentity()
  let syncer: CommitSyncer
  let residents = ResidentStores()

  private static let count = Atomic<UInt64>(0)
  private struct Weak { weak var shared: SharedEngine? }
  /// One for each open file, so only a few.
  private static let open = Mutex<[Weak]>([])

  private init(_ engine: any StorageEngine) {
    self.engine = engine
    notifier = CommitNotifier(engine)
    results = ResultNotifier(engine, notifier)
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
