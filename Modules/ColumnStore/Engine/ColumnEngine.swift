import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// The columnar engine over any ordered key-value store; LMDB and memory stores use it.
///
/// Objects are stored by column in chunks of about a thousand rows, indexes and backlinks as sorted blocks. A write is
/// collected in memory and becomes one batch at its commit. Docs/FileFormat.md describes the layout.
///
/// **Threads.** Every call is safe from any thread at any time.
public final class ColumnEngine: StorageEngine, DeferredSync, VersionAnnouncing, SpaceReclaiming {
  public var powers: EnginePowers {
    EnginePowers(
      announcing: self, syncing: self, space: self, structure: self, copying: store.upkeep == nil ? nil : self, key: key)
  }
  let store: any KeyValueStore
  let header: FileHeader
  let historyLimit: UInt64
  let structures = StructureCache()
  let image: ColumnImage
  /// Set if a forked child may not use the inherited store.
  let mark: ForkMark?
  private let isReadOnly: Bool
  /// The next keys after those given out since the engine was opened, by rolled-back writes too; indexed by table number.
  private let highWater = Mutex<[Int64]>([])
  private let closed = Atomic(false)

  /// Opens the column store in `store`, or creates it if the store is empty and `options` allow it.
  ///
  /// Throws `.foreignFile` for a store with other data, `.unsupportedVersion`, `.corrupt`, `.fileNotFound` for an empty store
  /// that may not be filled, and any error of the store. The caller must close the store then.
  public convenience init(_ store: any KeyValueStore, _ options: OpenOptions) throws(StorageError) {
    try self.init(store, options, .process)
  }

  /// As above, with a separate budget for decoded data.
  init(_ store: any KeyValueStore, _ options: OpenOptions, _ budget: ImageBudget) throws(StorageError) {
    self.store = store
    isSealed = store is SealedStore
    key = store.traits.key
    image = ColumnImage(budget)
    mark = store.traits.forkMark
    isReadOnly = options.isReadOnly
    historyLimit = UInt64(max(options.historyLimit, 1))
    if let header = try ColumnEngine.readHeader(store) {
      self.header = header
      return
    }
    guard !options.isReadOnly, options.createsIfMissing else {
      throw StorageError(.fileNotFound, .engine, "The store is empty.", remedy: "Open it for writing once.")
    }
    header = try ColumnEngine.create(store)
  }

  deinit { if !closed.load(ordering: .relaxed) { store.close() } }

  private static func readHeader(_ store: any KeyValueStore) throws(StorageError) -> FileHeader? {
    let snapshot = try store.beginSnapshot()
    defer { snapshot.end() }
    let bytes = try EntryKey.header.withBytes { key throws(StorageError) in try snapshot.value(for: key) }
    if let bytes {
      do throws(StorageError) { return try FileHeader(bytes) } catch { throw error.placed("the header", inFile: store.traits.file) }
    }
    var isEmpty = true
    try [UInt8]([1]).lend { start throws(StorageError) in
      try snapshot.visitKeys(from: start, sharing: 0, reverse: false) { _ in
        isEmpty = false
        return .stop
      }
    }
    guard isEmpty, snapshot.version == Version(0) else {
      throw StorageError(.foreignFile, .engine, "The file is a database of another program.")
    }
    return nil
  }

  private static func create(_ store: any KeyValueStore) throws(StorageError) -> FileHeader {
    let writer = try store.acquireWriter(.never)
    defer { writer.end() }
    // Another writer may have been first.
    if let header = try readHeader(store) { return header }
    let header = FileHeader(pageSize: store.traits.pageSize, pageOverhead: store.traits.pageOverhead)
    var batch = KeyValueBatch(version: Version(0))
    EntryKey.header.withBytes { batch.append(key: $0, value: header.encoded(format: header.format)) }
    try writer.apply(batch, .full)
    return header
  }

  public var kind: String { store.traits.kind }

  /// Whether the entries below are encrypted.
  package let isSealed: Bool
  /// What is written of the store to other files is encrypted with it.
  private let key: (any StoreKey)?

  /// Whether `close` was called.
  public var isClosed: Bool { closed.load(ordering: .relaxed) }

  public func latestVersion() throws(StorageError) -> Version { try store.latestVersion() }

  public func beginRead() throws(StorageError) -> any ReadTransaction {
    try checkOpen()
    return try ColumnRead(self, store.beginSnapshot())
  }

  public func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    try checkOpen()
    if isReadOnly {
      throw StorageError(.readOnly, .statement, "The store was opened for reading.", remedy: "Open it for writing.")
    }
    let writer = try store.acquireWriter(deadline)
    do throws(StorageError) {
      try checkOpen()
      return try ColumnWrite(self, store.beginSnapshot(), writer)
    } catch {
      writer.end()
      throw error
    }
  }

  public func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    try checkOpen()
    return try store.addCommitListener(unless: isTold, body)
  }

  public func statistics() throws(StorageError) -> StorageStatistics {
    try checkOpen()
    var statistics = try store.statistics()
    let snapshot = try store.beginSnapshot()
    defer { snapshot.end() }
    var oldest: UInt64?
    try EntryKey.history(0).withBytes { from throws(StorageError) in
      try snapshot.visitKeys(from: from, sharing: 1, reverse: false) { key in
        if key.count == 9 {
          oldest = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        }
        return .stop
      }
    }
    if let oldest, oldest <= snapshot.version.rawValue { statistics.historyVersions = oldest...snapshot.version.rawValue }
    return statistics
  }

  public func syncCommits() throws(StorageError) {
    try checkOpen()
    try store.upkeep?.syncBatches()
  }

  public func announce(_ version: Version, label: String) -> (any VersionAnnouncement)? {
    isClosed || mark?.isStale == true ? nil : store.upkeep?.announce(version, label: label)
  }

  public func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int {
    try checkOpen()
    if isReadOnly {
      throw StorageError(.readOnly, .statement, "The store was opened for reading.", remedy: "Open it for writing.")
    }
    return try store.upkeep?.reclaimSpace(deadline) ?? 0
  }

  public func close() {
    if closed.exchange(true, ordering: .relaxed) { return }
    image.forgetAll()
    store.close()
  }

  func checkOpen() throws(StorageError) {
    try mark?.check()
    if closed.load(ordering: .relaxed) {
      throw StorageError(.closed, .engine, "The store was closed.", remedy: "Open it again.")
    }
  }
}

extension ColumnEngine {
  /// The first key that neither the base version nor any write of this engine has used.
  func nextKey(_ table: TableID, stored: Int64) -> Int64 {
    highWater.withLock { keys in
      let i = Int(table.rawValue)
      return i < keys.count ? max(keys[i], stored) : stored
    }
  }

  func keepKeys(_ table: TableID, below next: Int64) {
    highWater.withLock { keys in
      let i = Int(table.rawValue)
      while keys.count <= i { keys.append(1) }
      keys[i] = max(keys[i], next)
    }
  }
}
