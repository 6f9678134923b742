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
  /// The cipher of the entries, for a `SealedStore` above; nil: they are not encrypted.
  package let cipher: EntryCipher?
  /// Whether there were no entries when the store was opened.
  private let wasEmpty: Bool
  private let forkMark = ForkMark()
  private let path: String
  private let current: Mutex<LMDBEnvironment?>

  /// Opens the file at `path`, whose entries are encrypted with `key`, or not (nil); with `keepsJournal` small durable commits are in a
  /// journal. Throws the errors of `StorageBackend.open`. For
  /// tests, `mapSize`: the initial address space in bytes, halved until it fits, and `mapSizeMax`: its maximum.
  package init(
    path: String, isReadOnly: Bool = false, createsIfMissing: Bool = true, isPrivate: Bool = false, key: (any StoreKey)? = nil,
    keepsJournal: Bool = false, mapSize: Int? = nil, mapSizeMax: Int = .max
  ) throws(StorageError) {
    let environment: LMDBEnvironment
    (environment, wasEmpty, cipher) = try LMDBStore.opened(key) { () throws(StorageError) in
      try LMDBEnvironment.open(
        path, isReadOnly: isReadOnly, createsIfMissing: createsIfMissing, mode: isPrivate ? 0o600 : LMDBEnvironment.mode,
        map: MapBounds(first: mapSize, last: mapSizeMax))
    }
    if keepsJournal { environment.safePoints.keepJournal() }
    var statistics = MDB_stat()
    mdb_env_stat(environment.pointer, &statistics)
    // A large value has LMDB's page header of 16 bytes, and its checksum at the end.
    traits = KeyValueTraits(
      kind: "lmdb", pageSize: Int(statistics.ms_psize), pageOverhead: 16 + Int(CS_SEAL), forkMark: forkMark,
      file: environment.files.data, key: cipher == nil ? nil : key)
    self.path = environment.files.data
    self.isReadOnly = isReadOnly
    current = Mutex(environment)
  }

  /// An environment, whether it had no entries, and their cipher. Files that were made for it go with an error.
  private static func opened(
    _ key: (any StoreKey)?, _ open: () throws(StorageError) -> LMDBEnvironment
  ) throws(StorageError) -> (LMDBEnvironment, wasEmpty: Bool, EntryCipher?) {
    var files: LMDBFiles?
    func decided() throws(StorageError) -> (LMDBEnvironment, wasEmpty: Bool, EntryCipher?) {
      let environment = try open()
      files = environment.files
      return (environment, environment.pages.format == nil, try environment.cipher(key))
    }
    do throws(StorageError) { return try decided() } catch {
      files?.removeIfUnused()
      throw error
    }
  }

  package var upkeep: (any KeyValueUpkeep)? { self }

  package var isClosed: Bool { current.withLock { $0 == nil } }

  /// Throws `.replaced` if the file's name leads elsewhere by now: a newer version never comes.
  package func latestVersion() throws(StorageError) -> Version {
    let environment = try environment()
    try environment.checkFound()
    return try environment.latestVersion()
  }

  package func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot {
    let environment = try environment()
    try environment.checkFound()
    let snapshot = try LMDBSnapshot(environment)
    // Somebody else may have written the first entries, with a key.
    if wasEmpty, cipher == nil, StoreRecord.isEncrypted(environment.pages.format ?? 0) { throw .missingKey(path) }
    return snapshot
  }

  package func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    let environment = try environment()
    guard !isReadOnly, let hold = try environment.acquireWriter(deadline) else {
      throw StorageError(
        .readOnly, .statement, "'\(path)' was opened for reading alone.", remedy: "Open it for writing.")
    }
    return LMDBWriter(environment, hold, isEncrypted: cipher != nil)
  }

  package func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    let environment = try environment()
    return environment.bell.listen(unless: isTold, version: { [weak self] in self?.versionToHear() }, body)
  }

  /// For the bell: that the file is gone is news, too, as a version that no commit has. Who hears of it looks, and gets the error.
  private func versionToHear() -> Version? {
    do throws(StorageError) { return try latestVersion() } catch { return error.code == .replaced ? Version(.max) : nil }
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

  /// Whether there were entries when the store was opened.
  var hadEntries: Bool { !wasEmpty }

  /// The entries as the column store is given them: decrypted, if they are encrypted.
  package var shown: any KeyValueStore { cipher.map { SealedStore(self, $0) } ?? self }

  /// The files, if opening has created them; nil otherwise.
  var madeFiles: LMDBFiles? { current.withLock { $0?.files }.flatMap { $0.areNew ? $0 : nil } }

  func environment() throws(StorageError) -> LMDBEnvironment {
    try forkMark.check()
    guard let environment = current.withLock({ $0 }) else { throw .closed(path) }
    return environment
  }
}
