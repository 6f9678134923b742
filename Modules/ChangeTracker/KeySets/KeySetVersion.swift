import StoreValues

/// One published state of a key set. Immutable; every call is safe on any thread.
package final class KeySetVersion: @unchecked Sendable {
  // Sound for the reasons given at `SortedVersion`: both stand on the same pool and its one rule, that a node of a
  // published epoch is never written before every version that reaches it was released.
  let root: ViewNode?
  private let pool: ViewNodePool
  private let epoch: UInt64
  package let count: Int

  /// Publishes the pool's current epoch.
  init(pool: ViewNodePool, count: Int) {
    root = pool.root
    self.pool = pool
    self.count = count
    epoch = pool.publish()
  }

  deinit { pool.release(epoch) }

  private var reader: KeySetReader { KeySetReader(root: root, count: count) }

  /// The object at a position; nil outside. O(log key).
  package func key(at position: Int) -> ObjectKey? { reader.key(at: position).map { ObjectKey($0) } }

  /// The number of keys below this one, and whether it is in the set. O(log key).
  package func rank(of key: Int64) -> (position: Int, isFound: Bool) { reader.rank(of: key) }

  /// Every key, ascending. O(n).
  package func forEach(_ body: (Int64) -> Void) { reader.forEach(body) }

  /// The keys at some positions, clamped to the set. O(keys · log key).
  package func keys(in range: Range<Int>) -> [Int64] {
    range.clamped(to: 0..<count).compactMap { reader.key(at: $0) }
  }
}
