/// Builds a tree from sorted entries, leaf by leaf and level by level.
struct TreeBuilder {
  let layout: TreeLayout
  let pool: ViewNodePool
  /// The fill factor of nodes, 0 to 1, which leaves room for the first insertions.
  let fill: Double

  func build(_ entries: [ViewEntry]) -> ViewNode? {
    var level = leaves(entries)
    var height = 1
    while level.count > 1 {
      level = parents(of: level, level: height)
      height += 1
    }
    return level.first
  }

  private func leaves(_ entries: [ViewEntry]) -> [ViewNode] {
    let size = max(2, Int(Double(layout.leafCapacity) * fill))
    return stride(from: 0, to: entries.count, by: size).map { start in
      let leaf = pool.makeNode(level: 0)
      let n = min(size, entries.count - start)
      for i in 0..<n { layout.set(entries[start + i], in: leaf, at: i) }
      leaf.count = n
      return leaf
    }
  }

  private func parents(of children: [ViewNode], level: Int) -> [ViewNode] {
    let size = max(2, Int(Double(layout.innerCapacity) * fill))
    return stride(from: 0, to: children.count, by: size).map { start in
      let node = pool.makeNode(level: level)
      let n = min(size, children.count - start)
      for i in 0..<n {
        let child = children[start + i]
        layout.set(layout.first(child), in: node, at: i)
        layout.children(node)[i] = child.raw
        layout.counts(node)[i] = UInt32(layout.entriesBelow(child))
      }
      node.count = n
      return node
    }
  }
}
