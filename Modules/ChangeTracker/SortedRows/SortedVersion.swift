import StorageInterface
import StoreValues

/// One published state of a sorted view: the keys of a result in order. Immutable; hand it to any thread.
///
/// Positions count from 0. Every call is safe on any thread, at the same time as any other and while the view
/// is edited.
package final class SortedVersion: @unchecked Sendable {
  // Sound because nothing that is reachable from `root` is written while this object lives:
  // - nodes reachable from it were written in its epoch or an earlier one, and the view only writes nodes of the epoch
  //   after the last published one (`ViewNodePool.writable` copies every other);
  // - a node is used again only after every version that can reach it was released, which `deinit` does under the
  //   pool's mutex, so that all reads through this object happen before that write;
  // - the version is published by handing over a reference, which orders the writes that made it before its reads.
  // `pool` is confined to the view's owner but for `release`, which is made for any thread; holding it keeps the
  // memory alive after the view is gone, and the pool's `deinit` runs when no view and no version is left.
  let root: ViewNode?
  private let pool: ViewNodePool
  private let layout: TreeLayout
  private let epoch: UInt64
  package let count: Int

  /// Publishes the pool's current epoch.
  init(pool: ViewNodePool, layout: TreeLayout, count: Int) {
    root = pool.root
    self.pool = pool
    self.layout = layout
    self.count = count
    epoch = pool.publish()
  }

  deinit { pool.release(epoch) }

  var reader: TreeReader { TreeReader(root: root, count: count, layout: layout) }

  /// The object at a position; nil outside. O(log n).
  package func key(at position: Int) -> ObjectKey? { reader.entry(at: position).map { ObjectKey($0.key) } }

  /// The entry at a position; nil outside. O(log n).
  package func entry(at position: Int) -> ViewEntry? { reader.entry(at: position) }

  /// The keys at some positions, clamped to the view. O(log n + keys).
  package func keys(in range: Range<Int>) -> [Int64] {
    let range = range.clamped(to: 0..<count)
    var keys: [Int64] = []
    keys.reserveCapacity(range.count)
    reader.append(range, to: &keys)
    return keys
  }

  /// Lends every key, in order, in blocks. O(n).
  package func forEachBlock(_ body: (UnsafeBufferPointer<Int64>) -> Void) {
    reader.forEachLeaf { _, keys, n in body(UnsafeBufferPointer(start: keys, count: n)) }
  }

  /// How many rows stand before the entry, and whether it is here, for orders whose entries have the whole sort key.
  /// O(log n).
  package func rank(of entry: ViewEntry) -> (position: Int, isFound: Bool) {
    // `NoTies` never throws.
    (try? reader.find(entry, NoTies())) ?? (0, false)
  }

  /// The same for a row of any order. `keys` reads full sort keys as of this version.
  package func rank(of row: OrderedRow, _ keys: FullKeys?) throws(StorageError) -> (position: Int, isFound: Bool) {
    guard let keys else { return rank(of: row.entry) }
    return try reader.find(row.entry, FullKeyTies(row, keys))
  }
}
