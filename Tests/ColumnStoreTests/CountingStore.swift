import StorageInterface
import StoreValues
import Synchronization

@testable import ColumnStore

/// A key-value store that counts what another is asked for and what it is given.
final class CountingStore: StoreInFront {
  struct Counts: Equatable {
    /// Values that were looked up.
    var reads = 0
    /// The same by what they are.
    var readSpaces: [EntryKey.Space: Int] = [:]
    /// Entries that were visited in runs.
    var visits = 0
    /// Entries that the last batch put or deleted, by what they are.
    var puts: [EntryKey.Space: Int] = [:]
    var deletes: [EntryKey.Space: Int] = [:]
    /// Of the last batch's values.
    var bytes = 0
  }

  let base: any KeyValueStore
  private let state = Mutex(Counts())

  init(_ base: any KeyValueStore) { self.base = base }

  /// What was counted since it was asked last.
  func take() -> Counts {
    state.withLock { counts in
      defer { counts = Counts() }
      return counts
    }
  }

  fileprivate func count(_ body: (inout Counts) -> Void) { state.withLock { body(&$0) } }

  func beginSnapshot() throws(StorageError) -> any KeyValueSnapshot {
    CountingSnapshot(try base.beginSnapshot(), self)
  }

  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    WriterInFront(try base.acquireWriter(deadline)) { [self] batch, durability, base throws(StorageError) in
      count { counts in
        (counts.puts, counts.deletes, counts.bytes) = ([:], [:], 0)
        batch.forEach { key, value in
          guard let space = key.first.flatMap({ EntryKey.Space(rawValue: $0) }) else { return }
          if let value {
            counts.puts[space, default: 0] += 1
            counts.bytes += value.count
          } else {
            counts.deletes[space, default: 0] += 1
          }
        }
      }
      try base.apply(consume batch, durability)
    }
  }
}

private final class CountingSnapshot: KeyValueSnapshot {
  private let base: any KeyValueSnapshot
  private let store: CountingStore

  init(_ base: any KeyValueSnapshot, _ store: CountingStore) {
    self.base = base
    self.store = store
  }

  var version: Version { base.version }
  func end() { base.end() }

  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    store.count { counts in
      counts.reads += 1
      if let space = key.first.flatMap({ EntryKey.Space(rawValue: $0) }) { counts.readSpaces[space, default: 0] += 1 }
    }
    return try base.value(for: key)
  }

  func visit(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try base.visit(from: start, sharing: prefix, reverse: reverse) { key, value in
      store.count { $0.visits += 1 }
      return body(key, value)
    }
  }
}
