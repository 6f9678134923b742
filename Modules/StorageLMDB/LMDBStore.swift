import CVivariumLMDB
import CVivariumSystem
import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// LMDB as the key-value store under the column store.
///
/// Stores on the same file share one environment. Closing a store lets go of the environment; it is closed
/// when the last snapshot and writer on it is gone as well.
package final class LMDBStore: KeyValueStore, KeyValueUpkeep {
  package let traits: KeyValueTraits
  package let isReadOnly: Bool
  private let forkMark = ForkMark()
  private let path: String
  private let current: Mutex<LMDBEnvironment?>

  /// Opens the file at `path`. Throws what `StorageBackend.open` does. For tests, `mapSize`: bytes of address space at first,
  /// halved until there is room, and `mapSizeMax`: at last.
  package init(
    path: String, isReadOnly: Bool = false, createsIfMissing: Bool = true, mapSize: Int? = nil, mapSizeMax: Int = .max
  ) throws(StorageError) {
    let environment = try LMDBEnvironment.open(
      path, isReadOnly: isReadOnly, createsIfMissing: createsIfMissing,
      map: MapBounds(first: mapSize, last: mapSizeMax))
    var statistics = MDB_stat()
    mdb_env_stat(environment.pointer, &statistics)
    // LMDB puts a header of 16 bytes on the pages of a large value, and its checksum ends it.
    traits = KeyValueTraits(
      kind: "lmdb", pageSize: Int(statistics.ms_psize), pageOverhead: 16 + Int(CS_SEAL), forkMark: forkMark)
    self.path = environment.files.data
    self.isReadOnly = isReadOnly
    current = Mutex(environment)
  }

  package var upkeep: (any KeyValueUpkeep)? { self }

  package var isClosed: Bool { current.withLock { $0 == nil } }

  package func latestVersion() throws(StorageError) -> Version { try environment().latestVersion() }

  package func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot { try LMDBSnapshot(environment()) }

  package func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    let environment = try environment()
    guard !isReadOnly, let hold = try environment.acquireWriter(deadline) else {
      throw StorageError(
        .readOnly, .statement, "'\(path)' was opened for reading alone.", remedy: "Open it for writing.")
    }
    return LMDBWriter(environment, hold)
  }

  package func addCommitListener(_ body: @escaping @Sendable () -> Void) throws(StorageError) -> any CommitListener {
    let environment = try environment()
    return environment.bell.listen(version: { [weak self] in try? self?.latestVersion() }, body)
  }

  package func announce(_ version: Version, label: String) -> (any VersionAnnouncement)? {
    (try? environment())?.announce(version, label: label)
  }

  package func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int {
    try environment().reclaimSpace(deadline)
  }

  /// Waits for space that is being given back in the background. For tests.
  package static func waitForSpace() { LMDBEnvironment.waitForSpace() }

  package func syncBatches() throws(StorageError) {
    let environment = try environment()
    try environment.safePoints.move(environment, .never)
  }

  package func close() {
    // Dropped outside the lock: it may be the last reference, and closing takes time.
    let environment = current.withLock { current in
      defer { current = nil }
      return current
    }
    withExtendedLifetime(environment) {}
  }

  /// How many maps the process has of the file, and the bytes of the newest. For tests.
  package var maps: (count: Int, bytes: Int)? { try? environment().maps }

  /// The files where opening has made them; nil otherwise.
  var madeFiles: LMDBFiles? { current.withLock { $0?.files }.flatMap { $0.areNew ? $0 : nil } }

  func environment() throws(StorageError) -> LMDBEnvironment {
    try forkMark.check()
    guard let environment = current.withLock({ $0 }) else { throw .closed(path) }
    return environment
  }
}
