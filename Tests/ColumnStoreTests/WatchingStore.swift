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
    WriterInFront(try base.acquireWriter(deadline)) {
      [self] (batch: consuming KeyValueBatch, durability: Durability, base: any KeyValueWriter) throws(StorageError) in
      var copy = KeyValueBatch(version: batch.version)
      var watched: [Watched] = []
      batch.drain { key, value in
        copy.append(key: key, value: value.map { ValueBuffer(copying: $0.bytes) })
        watched.append(Watched(value: value))
      }
      let kept = watched.count { $0.value != nil }
      self.kept.withLock { $0 = kept }
      try base.apply(copy, durability)
    }
  }
}

private struct Watched { weak var value: ValueBuffer? }
