import StorageInterface

/// The rows of a sorted result, kept in order while they change: a persistent counted B+tree of
/// (8 or 16 bytes of the sort key, object key).
///
/// One owner edits it and publishes versions; a published version is immutable, costs O(1) to make and may be
/// read on any thread while the owner goes on. An edit is O(log n) and copies at most the nodes on one path,
/// each once a published version. About 19 bytes a row when built, 25 after much movement; 28 and 36 in a wide tree.
///
/// Confined to its owner. Edits throw only if comparing full sort keys throws; then the tree is unchanged.
package final class SortedView {
  let layout: TreeLayout
  let pool: ViewNodePool
  package private(set) var count = 0
  /// The last published version, to which `rollBack` returns.
  package private(set) var latest: SortedVersion
  /// The slots of the last search, by level. 64 levels suffice: a root is split only if it has at least 4 children, each of
  /// which took at least 2 splits of the level below, so a tree of 64 levels has seen more than 2^62 insertions.
  private let path = UnsafeMutablePointer<Int>.allocate(capacity: 64)

  /// From entries in order, without two of the same. O(n).
  package convenience init(_ entries: [ViewEntry], isWide: Bool = false) {
    self.init(entries, layout: isWide ? .wide : .standard)
  }

  init(_ entries: [ViewEntry], layout: TreeLayout, fill: Double = 0.9) {
    self.layout = layout
    pool = ViewNodePool(layout.shape)
    pool.root = TreeBuilder(layout: layout, pool: pool, fill: fill).build(entries)
    count = entries.count
    latest = SortedVersion(pool: pool, layout: layout, count: entries.count)
  }

  deinit { path.deallocate() }

  var reader: TreeReader { TreeReader(root: pool.root, count: count, layout: layout) }

  /// The size of the nodes that any living version or the view itself can reach.
  package var bytesInUse: Int { pool.bytesInUse }
  package var nodesInUse: Int { pool.nodesInUse }
}

// MARK: - Versions

extension SortedView {
  /// Publishes the current state as a version. O(1) plus the nodes replaced since the last one.
  @discardableResult package func publish() -> SortedVersion {
    latest = SortedVersion(pool: pool, layout: layout, count: count)
    pool.reclaim()
    return latest
  }

  /// Frees the memory of versions that are no longer read. Best called before a batch, which reuses it.
  package func reclaim() { pool.reclaim() }

  /// Reverts every edit since the last version.
  package func rollBack() {
    pool.rollBack(to: latest.root)
    count = latest.count
  }
}

// MARK: - Insert

extension SortedView {
  /// Adds an entry; returns its position, or nil if it was present. O(log n).
  func insert<T: TieOrder>(_ entry: ViewEntry, _ ties: T) throws(StorageError) -> Int? {
    let (position, isFound) = try reader.find(entry, ties, path: path)
    if isFound { return nil }
    count += 1
    guard let old = pool.root else {
      let leaf = pool.makeNode(level: 0)
      put(entry, in: leaf, at: 0)
      pool.root = leaf
      return 0
    }
    let root = pool.writable(old)
    pool.root = root
    if let right = insert(entry, below: root) { growRoot(root, right) }
    return position
  }

  private func growRoot(_ left: ViewNode, _ right: ViewNode) {
    let root = pool.makeNode(level: left.level + 1)
    put(child: left, in: root, at: 0)
    put(child: right, in: root, at: 1)
    pool.root = root
  }

  /// Inserts along `path`; returns the new right neighbour if the node was split.
  private func insert(_ entry: ViewEntry, below node: ViewNode) -> ViewNode? {
    let i = path[node.level]
    if node.isLeaf { return insert(entry, intoLeaf: node, at: i) }
    let children = layout.children(node)
    let child = pool.writable(ViewNode(children[i]))
    children[i] = child.raw
    let split = insert(entry, below: child)
    layout.counts(node)[i] += 1
    layout.set(layout.first(child), in: node, at: i)
    guard let split else { return nil }
    layout.counts(node)[i] -= UInt32(layout.entriesBelow(split))
    return insert(child: split, into: node, at: i + 1)
  }

  private func insert(_ entry: ViewEntry, intoLeaf leaf: ViewNode, at slot: Int) -> ViewNode? {
    let n = leaf.count
    if n < layout.leafCapacity {
      put(entry, in: leaf, at: slot)
      return nil
    }
    // Insertions in ascending order leave full leaves behind.
    let half = slot == n ? n : (slot == 0 ? 1 : n / 2)
    let right = pool.makeNode(level: 0)
    moveTail(of: leaf, from: half, to: right)
    if slot <= half, half < n { put(entry, in: leaf, at: slot) } else { put(entry, in: right, at: slot - half) }
    return right
  }

  private func insert(child: ViewNode, into node: ViewNode, at slot: Int) -> ViewNode? {
    let n = node.count
    if n < layout.innerCapacity {
      put(child: child, in: node, at: slot)
      return nil
    }
    let half = slot == n ? n - 1 : n / 2
    let right = pool.makeNode(level: node.level)
    moveTail(of: node, from: half, to: right)
    if slot <= half {
      put(child: child, in: node, at: slot)
    } else {
      put(child: child, in: right, at: slot - half)
    }
    return right
  }
}

// MARK: - Remove

extension SortedView {
  /// Removes an entry; returns its former position, or nil if it was not present. O(log n).
  func remove<T: TieOrder>(_ entry: ViewEntry, _ ties: T) throws(StorageError) -> Int? {
    let (position, isFound) = try reader.find(entry, ties, path: path)
    guard isFound, let old = pool.root else { return nil }
    count -= 1
    let root = pool.writable(old)
    pool.root = root
    removeEntry(below: root)
    shrinkRoot()
    return position
  }

  private func shrinkRoot() {
    while let root = pool.root {
      if root.count == 0 {
        pool.root = nil
      } else if root.level > 0, root.count == 1 {
        pool.root = ViewNode(layout.children(root)[0])
      } else {
        return
      }
      pool.retire(root)
    }
  }

  private func removeEntry(below node: ViewNode) {
    let i = path[node.level]
    if node.isLeaf { return closeSlot(i, of: node) }
    let children = layout.children(node)
    let child = pool.writable(ViewNode(children[i]))
    children[i] = child.raw
    removeEntry(below: child)
    layout.counts(node)[i] -= 1
    if child.count == 0 {
      closeSlot(i, of: node)
      pool.retire(child)
      return
    }
    layout.set(layout.first(child), in: node, at: i)
    mergeIfSmall(child, of: node, at: i)
  }

  private func mergeIfSmall(_ child: ViewNode, of node: ViewNode, at i: Int) {
    let capacity = layout.capacity(level: child.level)
    guard child.count < capacity / 3, node.count > 1 else { return }
    let left = i + 1 < node.count ? i : i - 1
    let children = layout.children(node)
    let (a, b) = (ViewNode(children[left]), ViewNode(children[left + 1]))
    // Leave some room, so that the next insertion does not split the merged node at once.
    guard a.count + b.count <= capacity - capacity / 8 else { return }
    let target = pool.writable(a)
    children[left] = target.raw
    copy(from: b, 0..<b.count, to: target, at: target.count)
    target.count += b.count
    layout.counts(node)[left] += layout.counts(node)[left + 1]
    closeSlot(left + 1, of: node)
    pool.retire(b)
  }
}

// MARK: - Slots

extension SortedView {
  private func put(_ entry: ViewEntry, in leaf: ViewNode, at slot: Int) {
    let n = leaf.count
    openEntry(slot, of: leaf)
    layout.set(entry, in: leaf, at: slot)
    leaf.count = n + 1
  }

  private func put(child: ViewNode, in node: ViewNode, at slot: Int) {
    let n = node.count
    openEntry(slot, of: node)
    open(layout.children(node), slot, n)
    open(layout.counts(node), slot, n)
    layout.set(layout.first(child), in: node, at: slot)
    layout.children(node)[slot] = child.raw
    layout.counts(node)[slot] = UInt32(layout.entriesBelow(child))
    node.count = n + 1
  }

  private func closeSlot(_ slot: Int, of node: ViewNode) {
    let n = node.count
    close(layout.prefixes(node), slot, n)
    close(layout.keys(node), slot, n)
    if layout.isWide { close(layout.seconds(node), slot, n) }
    if !node.isLeaf {
      close(layout.children(node), slot, n)
      close(layout.counts(node), slot, n)
    }
    node.count = n - 1
  }

  private func moveTail(of node: ViewNode, from start: Int, to right: ViewNode) {
    copy(from: node, start..<node.count, to: right, at: 0)
    right.count = node.count - start
    node.count = start
  }

  private func copy(from: ViewNode, _ range: Range<Int>, to: ViewNode, at slot: Int) {
    let (start, n) = (range.lowerBound, range.count)
    (layout.prefixes(to) + slot).update(from: layout.prefixes(from) + start, count: n)
    (layout.keys(to) + slot).update(from: layout.keys(from) + start, count: n)
    if layout.isWide { (layout.seconds(to) + slot).update(from: layout.seconds(from) + start, count: n) }
    if from.isLeaf { return }
    (layout.children(to) + slot).update(from: layout.children(from) + start, count: n)
    (layout.counts(to) + slot).update(from: layout.counts(from) + start, count: n)
  }

  /// Makes room for an entry; the node's count is still the old one.
  private func openEntry(_ slot: Int, of node: ViewNode) {
    let n = node.count
    open(layout.prefixes(node), slot, n)
    open(layout.keys(node), slot, n)
    if layout.isWide { open(layout.seconds(node), slot, n) }
  }

  @inline(__always) private func open<T: BitwiseCopyable>(_ array: UnsafeMutablePointer<T>, _ slot: Int, _ n: Int) {
    (array + slot + 1).update(from: array + slot, count: n - slot)
  }

  @inline(__always) private func close<T: BitwiseCopyable>(_ array: UnsafeMutablePointer<T>, _ slot: Int, _ n: Int) {
    (array + slot).update(from: array + slot + 1, count: n - slot - 1)
  }
}
