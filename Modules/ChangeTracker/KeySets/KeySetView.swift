import StoreValues

/// The rows of a result that is ordered by object key alone: a persistent bitmap with rank queries.
///
/// The same contract as `SortedView`: one owner, versions in O(1), readable on any thread. At most half a byte per row if rows
/// are dense; `suits` tells when a sorted view is smaller. Edits never fail. At most 2^32 keys.
package final class KeySetView {
  let pool: ViewNodePool
  package private(set) var count = 0
  package private(set) var latest: KeySetVersion

  /// Builds the view from ascending keys without duplicates. O(n).
  package init(_ keys: [Int64]) {
    pool = ViewNodePool(KeySetLayout.shape)
    if let last = keys.last {
      let level = KeySetLayout.level(for: UInt64(bitPattern: last))
      pool.root = KeySetBuilder(pool: pool, keys: keys).build(keys.indices, level: level)
    }
    count = keys.count
    latest = KeySetVersion(pool: pool, count: keys.count)
  }

  /// Whether ascending keys are dense enough for bits to take less than a sorted view's 19 bytes per row.
  package static func suits(_ keys: [Int64]) -> Bool {
    var leaves = 0
    var last: Int64?
    for key in keys where last != key >> KeySetLayout.leafBits {
      last = key >> KeySetLayout.leafBits
      leaves += 1
    }
    return leaves * KeySetLayout.shape.leafBytes <= keys.count * 19 + KeySetLayout.shape.innerBytes
  }

  var reader: KeySetReader { KeySetReader(root: pool.root, count: count) }
  package var bytesInUse: Int { pool.bytesInUse }
  package var nodesInUse: Int { pool.nodesInUse }

  /// Publishes the current state as a version. O(1) plus the nodes replaced since the last one.
  @discardableResult package func publish() -> KeySetVersion {
    latest = KeySetVersion(pool: pool, count: count)
    pool.reclaim()
    return latest
  }

  /// Frees the memory of versions that are no longer read.
  package func reclaim() { pool.reclaim() }

  /// Reverts every edit since the last version.
  package func rollBack() {
    pool.rollBack(to: latest.root)
    count = latest.count
  }
}

extension KeySetView {
  /// Adds a key; returns its position, or nil if it was present. O(log key).
  func insert(_ key: Int64) -> Int? {
    let (position, isFound) = reader.rank(of: key)
    if isFound { return nil }
    let bits = UInt64(bitPattern: key)
    var root = pool.root.map { pool.writable($0) } ?? pool.makeKeySetNode(level: KeySetLayout.level(for: bits))
    while !KeySetLayout.covers(bits, level: root.level) {
      let parent = pool.makeKeySetNode(level: root.level + 1)
      KeySetLayout.children(parent)[0] = root.raw
      KeySetLayout.counts(parent)[0] = UInt32(count)
      root = parent
    }
    pool.root = root
    var node = root
    while !node.isLeaf {
      let slot = KeySetLayout.slot(bits, level: node.level)
      let children = KeySetLayout.children(node)
      let child = children[slot].map { pool.writable(ViewNode($0)) } ?? pool.makeKeySetNode(level: node.level - 1)
      children[slot] = child.raw
      KeySetLayout.counts(node)[slot] += 1
      node = child
    }
    let bit = Int(bits & 4095)
    KeySetLayout.words(node)[bit >> 6] |= 1 << UInt64(bit & 63)
    for group in (bit >> 9) + 1..<8 { KeySetLayout.before(node)[group] += 1 }
    count += 1
    return position
  }

  /// Removes a key; returns its former position, or nil if it was not present. O(log key).
  func remove(_ key: Int64) -> Int? {
    let (position, isFound) = reader.rank(of: key)
    guard isFound, let root = pool.root else { return nil }
    count -= 1
    if count == 0 {
      retireAll(root)
      pool.root = nil
      return position
    }
    let writable = pool.writable(root)
    pool.root = writable
    clear(UInt64(bitPattern: key), below: writable)
    return position
  }

  private func clear(_ bits: UInt64, below node: ViewNode) {
    if node.isLeaf {
      let bit = Int(bits & 4095)
      KeySetLayout.words(node)[bit >> 6] &= ~(1 << UInt64(bit & 63))
      for group in (bit >> 9) + 1..<8 { KeySetLayout.before(node)[group] -= 1 }
      return
    }
    let slot = KeySetLayout.slot(bits, level: node.level)
    let (children, counts) = (KeySetLayout.children(node), KeySetLayout.counts(node))
    guard let raw = children[slot] else { return }  // unreachable: the key was found below it
    counts[slot] -= 1
    if counts[slot] == 0 {
      retireAll(ViewNode(raw))
      children[slot] = nil
      return
    }
    let child = pool.writable(ViewNode(raw))
    children[slot] = child.raw
    clear(bits, below: child)
  }

  private func retireAll(_ node: ViewNode) {
    pool.forEachChild(of: node) { retireAll($0) }
    pool.retire(node)
  }
}
