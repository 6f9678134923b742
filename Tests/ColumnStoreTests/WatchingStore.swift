import StorageInterface
import StoreValues
import Synchronization

@testable import ColumnStore

/// A key-value store that empties the batches it is given and counts the values that somebody else still holds.
final class WatchingStore: StoreInFront {
  let base: any KeyValueStore
  /// Values of the last batch that were there after the store had let go of them.
  let kept = Mutex(0)

  init(_ base: any KeyValueStore) { self.base = base }

  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> any KeyValueWriter {
    WatchingWriter(try base.acquireWriter(deadline), self)
  }
}

private final class WatchingWriter: KeyValueWriter {
  private struct Watched { weak var value: ValueBuffer? }

  private let base: any KeyValueWriter
  private let store: WatchingStore

  init(_ base: any KeyValueWriter, _ store: WatchingStore) {
    self.base = base
    self.store = store
  }

  func end() { base.end() }

  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError) {
    var copy = KeyValueBatch(version: batch.version)
    var watched: [Watched] = []
    batch.drain { key, value in
      copy.append(key: key, value: value.map { ValueBuffer(copying: $0.bytes) })
      watched.append(Watched(value: value))
    }
    let kept = watched.count { $0.value != nil }
    store.kept.withLock { $0 = kept }
    try base.apply(copy, durability)
  }
}
