import StorageInterface

/// Reads one root of a sorted view's tree. A value over memory that its holder keeps alive and unchanged.
struct TreeReader {
  let root: ViewNode?
  let count: Int
  let layout: TreeLayout

  /// The first slot, from `start` on, that is not below the entry (`orEqual`: that is above it). O(log n).
  @inline(__always) private func slot<T: TieOrder>(
    _ node: ViewNode, from start: Int, _ entry: ViewEntry, _ ties: T, orEqual: Bool
  ) throws(StorageError) -> Int {
    let (prefixes, keys) = (layout.prefixes(node), layout.keys(node))
    var low = start
    var left = node.count - start
    while left > 0 {
      let half = left >> 1
      let middle = low + half
      let prefix = prefixes[middle]
      let isBelow: Bool
      if prefix != entry.prefix {
        isBelow = prefix < entry.prefix
      } else if layout.isWide, layout.seconds(node)[middle] != entry.second {
        isBelow = layout.seconds(node)[middle] < entry.second
      } else {
        // Also if the object key is the same: the row may be searched for at another place than its stored one.
        let key = keys[middle]
        let order = try ties.order(toStored: key)
        isBelow = order != 0 ? order > 0 : (key < entry.key || (orEqual && key == entry.key))
      }
      if isBelow {
        low = middle + 1
        left -= half + 1
      } else {
        left = half
      }
    }
    return low
  }

  /// The child to descend to: the last whose smallest entry is not above the entry, else the first.
  @inline(__always) func child<T: TieOrder>(
    _ node: ViewNode, _ entry: ViewEntry, _ ties: T
  ) throws(StorageError) -> Int {
    try slot(node, from: 1, entry, ties, orEqual: true) - 1
  }

  /// The number of entries below the entry, and whether it is present. Sets `path[level]` to the slot taken on that level.
  /// O(log n).
  @inline(__always) func find<T: TieOrder>(
    _ entry: ViewEntry, _ ties: T, path: UnsafeMutablePointer<Int>? = nil
  ) throws(StorageError) -> (position: Int, isFound: Bool) {
    guard var node = root else { return (0, false) }
    var before = 0
    while !node.isLeaf {
      let i = try child(node, entry, ties)
      path?[node.level] = i
      before += TreeLayout.sum(layout.counts(node), i)
      node = ViewNode(layout.children(node)[i])
    }
    let i = try slot(node, from: 0, entry, ties, orEqual: false)
    path?[0] = i
    let isFound = i < node.count && layout.entry(node, at: i) == entry
    return (before + i, isFound)
  }

  /// The entry at a position; nil outside. O(log n).
  func entry(at position: Int) -> ViewEntry? {
    guard position >= 0, position < count, var node = root else { return nil }
    var rest = UInt32(position)
    while !node.isLeaf {
      // The counts of a node's children add up to the entries below it, so the loop ends within them.
      let counts = layout.counts(node)
      var i = 0
      while rest >= counts[i] {
        rest -= counts[i]
        i += 1
      }
      node = ViewNode(layout.children(node)[i])
    }
    return layout.entry(node, at: Int(rest))
  }

  /// Calls the closure with every leaf's prefixes and keys, in order.
  func forEachLeaf(_ body: (UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<Int64>, Int) -> Void) {
    if let root { visit(root, body) }
  }

  private func visit(
    _ node: ViewNode, _ body: (UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<Int64>, Int) -> Void
  ) {
    if node.isLeaf { return body(layout.prefixes(node), layout.keys(node), node.count) }
    let children = layout.children(node)
    for i in 0..<node.count { visit(ViewNode(children[i]), body) }
  }

  /// Appends the keys at some positions. O(log n + keys).
  func append(_ range: Range<Int>, to keys: inout [Int64]) {
    if let root, !range.isEmpty { append(range, below: root, to: &keys) }
  }

  private func append(_ range: Range<Int>, below node: ViewNode, to keys: inout [Int64]) {
    if node.isLeaf {
      let stored = layout.keys(node)
      for i in range { keys.append(stored[i]) }
      return
    }
    let (children, counts) = (layout.children(node), layout.counts(node))
    var start = 0
    for i in 0..<node.count {
      let end = start + Int(counts[i])
      if end > range.lowerBound, start < range.upperBound {
        let part = max(range.lowerBound, start) - start..<min(range.upperBound, end) - start
        append(part, below: ViewNode(children[i]), to: &keys)
      }
      start = end
    }
  }
}
