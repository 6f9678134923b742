import CVivariumLMDB
import CVivariumSystem
import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// LMDB as the key-value store under the column store.
///
/// Stores on the same file share one environment. Closing a store releases the environment, which is closed when the last
/// snapshot and writer on it are gone as well.
package final class LMDBStore: KeyValueStore, KeyValueUpkeep {
  package let traits: KeyValueTraits
  package let isReadOnly: Bool
  private let forkMark = ForkMark()
  private let path: String
  private let current: Mutex<LMDBEnvironment?>

  /// Opens the file at `path`. Throws the errors of `StorageBackend.open`. For tests, `mapSize`: the initial address space in
  /// bytes, halved until it fits, and `mapSizeMax`: its maximum.
  package init(
    path: String, isReadOnly: Bool = false, createsIfMissing: Bool = true, isPrivate: Bool = false, mapSize: Int? = nil,
    mapSizeMax: Int = .max
  ) throws(StorageError) {
    let environment = try LMDBEnvironment.open(
      path, isReadOnly: isReadOnly, createsIfMissing: createsIfMissing, mode: isPrivate ? 0o600 : LMDBEnvironment.mode,
      map: MapBounds(first: mapSize, last: mapSizeMax))
    var statistics = MDB_stat()
    mdb_env_stat(environment.pointer, &statistics)
    // A large value has LMDB's page header of 16 bytes, and its checksum at the end.
    traits = KeyValueTraits(
      kind: "lmdb", pageSize: Int(statistics.ms_psize), pageOverhead: 16 + Int(CS_SEAL), forkMark: forkMark,
      file: environment.files.data)
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

  /// Waits for background space reclaiming. For tests.
  package static func waitForSpace() { LMDBEnvironment.waitForBackground() }

  package func syncBatches() throws(StorageError) {
    let environment = try environment()
    try environment.safePoints.move(environment, .never)
  }

  package func close() {
    // Released outside the lock: it may be the last reference, and closing takes time.
    let environment = current.withLock { current in
      defer { current = nil }
      return current
    }
    withExtendedLifetime(environment) {}
  }

  /// The number of the process's maps of the file, and the size of the newest in bytes. For tests.
  package var maps: (count: Int, bytes: Int)? { try? environment().maps }

  /// The files, if opening has created them; nil otherwise.
  var madeFiles: LMDBFiles? { current.withLock { $0?.files }.flatMap { $0.areNew ? $0 : nil } }

  func environment() throws(StorageError) -> LMDBEnvironment {
    try forkMark.check()
    guard let environment = current.withLock({ $0 }) else { throw .closed(path) }
    return environment
  }
}
