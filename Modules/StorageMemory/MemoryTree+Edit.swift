import ColumnStore

extension MemoryTree {
  /// A put or a delete.
  struct Edit {
    var key: ValueBuffer
    var value: ValueBuffer?
  }

  /// The tree with sorted edits applied. Copies the nodes on the path to each edit once. O(edits · log n).
  func applying(_ edits: [Edit]) -> MemoryTree {
    var nodes = edited(edits[...])
    if nodes.isEmpty { return .empty }
    while nodes.count > 1 { nodes = MemoryTree.grouped(nodes) }
    var root = nodes[0]
    while root.children.count == 1 { root = root.children[0] }
    return root
  }

  /// The nodes that replace this one: none, one, or several of the same height.
  private func edited(_ edits: ArraySlice<Edit>) -> [MemoryTree] {
    if edits.isEmpty { return [self] }
    if isLeaf { return editedLeaf(edits) }
    var result: [MemoryTree] = []
    result.reserveCapacity(children.count + 1)
    var next = edits.startIndex
    for i in children.indices {
      var end = next
      if i == children.count - 1 {
        end = edits.endIndex
      } else {
        while end < edits.endIndex, compareBytes(edits[end].key.bytes, keys[i + 1].bytes) < 0 { end += 1 }
      }
      MemoryTree.append(children[i].edited(edits[next..<end]), to: &result)
      next = end
    }
    return MemoryTree.grouped(result)
  }

  /// Merges a node that has become small into the previous one.
  private static func append(_ nodes: [MemoryTree], to result: inout [MemoryTree]) {
    for node in nodes {
      guard let last = result.last, node.keys.count + last.keys.count <= fanout,
        node.keys.count < fanout / 4 || last.keys.count < fanout / 4
      else {
        result.append(node)
        continue
      }
      result[result.count - 1] =
        node.isLeaf
        ? MemoryTree(keys: last.keys + node.keys, values: last.values + node.values)
        : MemoryTree(children: last.children + node.children)
    }
  }

  private func editedLeaf(_ edits: ArraySlice<Edit>) -> [MemoryTree] {
    var newKeys: [ValueBuffer] = []
    var newValues: [ValueBuffer] = []
    newKeys.reserveCapacity(keys.count + edits.count)
    newValues.reserveCapacity(keys.count + edits.count)
    var i = 0
    for edit in edits {
      while i < keys.count, compareBytes(keys[i].bytes, edit.key.bytes) < 0 {
        newKeys.append(keys[i])
        newValues.append(values[i])
        i += 1
      }
      if i < keys.count, compareBytes(keys[i].bytes, edit.key.bytes) == 0 { i += 1 }
      if let value = edit.value {
        newKeys.append(edit.key)
        newValues.append(value)
      }
    }
    newKeys += keys[i...]
    newValues += values[i...]
    return MemoryTree.cut(newKeys.count).map { part in
      MemoryTree(keys: Array(newKeys[part]), values: Array(newValues[part]))
    }
  }

  /// Groups nodes of one height under as few branches as possible; returns the node itself if there is at most one.
  private static func grouped(_ nodes: [MemoryTree]) -> [MemoryTree] {
    if nodes.isEmpty { return [] }
    return cut(nodes.count).map { MemoryTree(children: Array(nodes[$0])) }
  }

  /// Even ranges of at most `fanout`.
  private static func cut(_ count: Int) -> [Range<Int>] {
    if count == 0 { return [] }
    let parts = (count + fanout - 1) / fanout
    return (0..<parts).map { count * $0 / parts..<count * ($0 + 1) / parts }
  }
}
