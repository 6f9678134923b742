/// Builds a key set's tree from ascending keys without duplicates.
struct KeySetBuilder {
  let pool: ViewNodePool
  let keys: [Int64]

  /// The node of a level for a range of the keys. O(keys + nodes · log keys).
  func build(_ range: Range<Int>, level: Int) -> ViewNode {
    let node = pool.makeKeySetNode(level: level)
    if level == 0 {
      fill(node, range)
      return node
    }
    var start = range.lowerBound
    while start < range.upperBound {
      let slot = KeySetLayout.slot(UInt64(bitPattern: keys[start]), level: level)
      let end = end(of: slot, in: start..<range.upperBound, level: level)
      KeySetLayout.children(node)[slot] = build(start..<end, level: level - 1).raw
      KeySetLayout.counts(node)[slot] = UInt32(end - start)
      start = end
    }
    return node
  }

  /// The end of the keys that belong to the slot; the range begins with one of them.
  private func end(of slot: Int, in range: Range<Int>, level: Int) -> Int {
    var low = range.lowerBound + 1
    var high = range.upperBound
    while low < high {
      let middle = (low + high) / 2
      if KeySetLayout.slot(UInt64(bitPattern: keys[middle]), level: level) == slot {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private func fill(_ leaf: ViewNode, _ range: Range<Int>) {
    let words = KeySetLayout.words(leaf)
    for i in range {
      let bit = Int(keys[i] & 4095)
      words[bit >> 6] |= 1 << UInt64(bit & 63)
    }
    var before = 0
    for word in 0..<64 {
      if word & 7 == 0 { KeySetLayout.before(leaf)[word >> 3] = UInt16(before) }
      before += words[word].nonzeroBitCount
    }
  }
}

extension ViewNodePool {
  /// An empty node of a key set, in the epoch being written.
  func makeKeySetNode(level: Int) -> ViewNode {
    let node = makeNode(level: level)
    let bytes = level == 0 ? KeySetLayout.shape.leafBytes : KeySetLayout.shape.innerBytes
    (node.raw + ViewNode.headerBytes).initializeMemory(
      as: UInt8.self, repeating: 0, count: bytes - ViewNode.headerBytes)
    if level > 0 { node.count = KeySetLayout.directorySize }
    return node
  }
}
