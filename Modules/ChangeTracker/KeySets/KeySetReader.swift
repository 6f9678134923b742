/// Reads one root of a key set. A value over memory that its holder keeps alive and unchanged.
struct KeySetReader {
  let root: ViewNode?
  let count: Int

  /// The number of keys below this one, and whether it is in the set. O(log key). Keys compare as unsigned numbers; they are
  /// positive.
  func rank(of key: Int64) -> (position: Int, isFound: Bool) {
    guard var node = root else { return (0, false) }
    let bits = UInt64(bitPattern: key)
    guard KeySetLayout.covers(bits, level: node.level) else { return (count, false) }
    var before = 0
    while !node.isLeaf {
      let slot = KeySetLayout.slot(bits, level: node.level)
      before += TreeLayout.sum(KeySetLayout.counts(node), slot)
      guard let child = KeySetLayout.children(node)[slot] else { return (before, false) }
      node = ViewNode(child)
    }
    let bit = Int(bits & 4095)
    let words = KeySetLayout.words(node)
    before += Int(KeySetLayout.before(node)[bit >> 9])
    for word in (bit >> 9) << 3..<bit >> 6 { before += words[word].nonzeroBitCount }
    let mask = UInt64(1) << UInt64(bit & 63)
    before += (words[bit >> 6] & (mask - 1)).nonzeroBitCount
    return (before, words[bit >> 6] & mask != 0)
  }

  /// The key at a position; nil outside. O(log key).
  func key(at position: Int) -> Int64? {
    guard position >= 0, position < count, var node = root else { return nil }
    var rest = position
    var key: UInt64 = 0
    while !node.isLeaf {
      // The counts of a directory add up to the keys below it, so the loop ends at an existing child.
      let counts = KeySetLayout.counts(node)
      var slot = 0
      while rest >= Int(counts[slot]) {
        rest -= Int(counts[slot])
        slot += 1
      }
      key |= UInt64(slot) << KeySetLayout.shift(level: node.level)
      guard let child = KeySetLayout.children(node)[slot] else { return nil }
      node = ViewNode(child)
    }
    var group = 7
    while Int(KeySetLayout.before(node)[group]) > rest { group -= 1 }
    rest -= Int(KeySetLayout.before(node)[group])
    var word = group * 8
    let words = KeySetLayout.words(node)
    while rest >= words[word].nonzeroBitCount {
      rest -= words[word].nonzeroBitCount
      word += 1
    }
    var bits = words[word]
    for _ in 0..<rest { bits &= bits - 1 }
    return Int64(bitPattern: key | UInt64(word << 6) | UInt64(bits.trailingZeroBitCount))
  }

  /// Every key, ascending.
  func forEach(_ body: (Int64) -> Void) {
    if let root { visit(root, 0, body) }
  }

  private func visit(_ node: ViewNode, _ base: UInt64, _ body: (Int64) -> Void) {
    if node.isLeaf {
      let words = KeySetLayout.words(node)
      for word in 0..<64 {
        var bits = words[word]
        while bits != 0 {
          body(Int64(bitPattern: base | UInt64(word << 6) | UInt64(bits.trailingZeroBitCount)))
          bits &= bits - 1
        }
      }
      return
    }
    let children = KeySetLayout.children(node)
    for slot in 0..<KeySetLayout.directorySize {
      guard let child = children[slot] else { continue }
      visit(ViewNode(child), base | UInt64(slot) << KeySetLayout.shift(level: node.level), body)
    }
  }
}
