import Dispatch
import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// What all stores of one open file share in this process: the engine, who hears of its commits, and the
/// queue on which asynchronous writes run in the order they were asked for.
final class SharedEngine: Sendable {
  let engine: any StorageEngine
  /// Tells this open file from all others of the process, also from those that were closed.
  let number = SharedEngine.count.wrappingAdd(1, ordering: .relaxed).newValue
  let notifier: CommitNotifier
  let results: ResultNotifier
  /// Taken to commit: whoever holds it reads the version it has just made.
  let commitGate = Mutex(())
  let worker = DispatchQueue(label: "vivarium.writer")
  static let isWorker = DispatchSpecificKey<Bool>()
  /// In which order this process's writes ask for the right to write.
  let line = WriterLine()
  let versions: HeldVersions
  /// Of a file that has none of its own: one that was never opened for writing since files have them.
  let localIdentity = StoreIdentity()
  let syncer: CommitSyncer
  /// Who keeps the right to write while its observers are told. One at the most: there is one right.
  let keeper = Mutex<WriteKeeper?>(nil)
  /// Whose write is open round the code that runs. One at the most, too.
  let writer = Mutex<WriteKeeper?>(nil)
  /// Whose write is open, from its beginning to its end, and where.
  let openWriter = Mutex<OpenWriter?>(nil)
  /// Rights that are waited for on the worker, or have come, and that nobody took. Weak: they go with their stores.
  let acquisitions = Mutex<[WeakAcquisition]>([])

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
    worker.setSpecific(key: SharedEngine.isWorker, value: true)
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
