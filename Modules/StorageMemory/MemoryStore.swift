import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// A key-value store in the memory of this process: a tree root that each batch replaces.
package final class MemoryStore: KeyValueStore {
  private struct State {
    var root = MemoryTree.empty
    var version = Version(0)
    /// The number of open snapshots of each version.
    var readers: [Version: Int] = [:]
  }

  package let traits: KeyValueTraits
  private let state = Mutex(State())
  private let lock = LocalWriterLock()
  private let bell = LocalDoorbell()
  private let isClosed = Atomic(false)

  package init(pageSize: Int) { traits = KeyValueTraits(kind: "memory", pageSize: pageSize) }

  /// It has no files.
  package var upkeep: (any KeyValueUpkeep)? { nil }

  package func latestVersion() throws(StorageError) -> Version { state.withLock { $0.version } }

  package func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot {
    try checkOpen()
    let (root, version) = state.withLock { state in
      state.readers[state.version, default: 0] += 1
      return (state.root, state.version)
    }
    return MemorySnapshot(root, version, self)
  }

  fileprivate func endSnapshot(_ version: Version) {
    state.withLock { state in
      let left = (state.readers[version] ?? 1) - 1
      state.readers[version] = left > 0 ? left : nil
    }
  }

  package func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    try checkOpen()
    return MemoryWriter(self, try lock.acquire(deadline))
  }

  fileprivate func apply(_ batch: KeyValueBatch) {
    var edits: [MemoryTree.Edit] = []
    edits.reserveCapacity(batch.count)
    batch.forEach { key, value in edits.append(MemoryTree.Edit(key: ValueBuffer(copying: key), value: value)) }
    // The writer's lock is held, so nobody else replaces the root meanwhile.
    let root = state.withLock { $0.root }.applying(edits)
    state.withLock { state in
      state.root = root
      state.version = batch.version
    }
    bell.ringForCommit()
  }

  package func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    try checkOpen()
    return bell.listen(unless: isTold, version: { [weak self] in self?.state.withLock { $0.version } }, body)
  }

  package func statistics() throws(StorageError) -> StorageStatistics {
    var statistics = StorageStatistics()
    statistics.pins = state.withLock { $0.readers }.sorted { $0.key < $1.key }.flatMap { version, count in
      [VersionPin](repeating: VersionPin(version: version, processID: ProcessNumber.own), count: count)
    }
    return statistics
  }

  package func close() { isClosed.store(true, ordering: .relaxed) }

  private func checkOpen() throws(StorageError) {
    if isClosed.load(ordering: .relaxed) { throw StorageError(.closed, .engine, "The store was closed.") }
  }
}

/// One version: its root.
final class MemorySnapshot: KeyValueSnapshot {
  /// Nil once ended: then it retains no version, and every call throws `.closed`.
  private let root: Mutex<MemoryTree?>
  let version: Version
  private let store: MemoryStore

  fileprivate init(_ root: MemoryTree, _ version: Version, _ store: MemoryStore) {
    self.root = Mutex(root)
    self.version = version
    self.store = store
  }

  deinit { end() }

  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    // The tree retains the value, and this object the tree until it ends: the value is valid until then.
    try tree().value(for: key)?.bytes
  }

  func lastingValue(for key: UnsafeRawBufferPointer) throws(StorageError) -> LastingValue? {
    try tree().value(for: key).map { LastingValue(sharing: $0) }
  }

  func visit(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    let shared = start.prefix(prefix)
    func pass(_ key: ValueBuffer, _ value: ValueBuffer) -> Bool {
      key.bytes.prefix(prefix).elementsEqual(shared) && body(key.bytes, value.bytes) == .proceed
    }
    let tree = try tree()
    _ = reverse ? tree.descend(from: start, pass) : tree.ascend(from: start, pass)
  }

  func end() {
    // Released after the lock: the last reference to a tree frees it.
    let last = root.withLock { root in
      defer { root = nil }
      return root
    }
    if last != nil { store.endSnapshot(version) }
  }

  private func tree() throws(StorageError) -> MemoryTree {
    guard let root = root.withLock({ $0 }) else {
      throw StorageError(.closed, .transaction, "The snapshot has ended.", remedy: "Begin another.")
    }
    return root
  }
}

final class MemoryWriter: KeyValueWriter {
  private let store: MemoryStore
  private let hold: WriterHold

  fileprivate init(_ store: MemoryStore, _ hold: WriterHold) {
    self.store = store
    self.hold = hold
  }

  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError) { store.apply(batch) }

  func end() { hold.release() }
}
