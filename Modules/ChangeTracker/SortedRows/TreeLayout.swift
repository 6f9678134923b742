/// The memory layout of a sorted view's nodes: split arrays, so that a search reads only prefixes.
///
/// A leaf has `prefix[leafCapacity]`, `key[leafCapacity]`. An inner node has, for each child, the smallest entry below it
/// (`prefix`, `key`), the child, and the number of entries below it. Smallest entries are kept exact: a comparison may read a
/// row's full sort key, so no entry of a deleted row may remain anywhere.
struct TreeLayout: Sendable {
  let leafCapacity: Int
  let innerCapacity: Int

  /// 64 and 64: measured best or equal from 10,000 to 700,000 rows; wider nodes cost more copying, narrower ones more memory
  /// and cache misses.
  static let standard = TreeLayout(leafCapacity: 64, innerCapacity: 64)

  /// Capacities are clamped to 4 to 1,000: smaller ones make no tree, larger ones do not fit a node's header.
  init(leafCapacity: Int, innerCapacity: Int) {
    self.leafCapacity = min(max(leafCapacity, 4), 1_000)
    self.innerCapacity = min(max(innerCapacity, 4), 1_000)
  }

  var shape: ViewNodePool.Shape {
    ViewNodePool.Shape(
      leafBytes: ViewNode.headerBytes + leafCapacity * 16, innerBytes: ViewNode.headerBytes + innerCapacity * 28,
      childOffset: ViewNode.headerBytes + innerCapacity * 16)
  }

  @inline(__always) func capacity(level: Int) -> Int { level == 0 ? leafCapacity : innerCapacity }

  @inline(__always) func prefixes(_ node: ViewNode) -> UnsafeMutablePointer<UInt64> {
    node.array(ViewNode.headerBytes, of: UInt64.self)
  }
  @inline(__always) func keys(_ node: ViewNode) -> UnsafeMutablePointer<Int64> {
    node.array(ViewNode.headerBytes + capacity(level: node.level) * 8, of: Int64.self)
  }
  /// The children of an inner node; never nil up to its count.
  @inline(__always) func children(_ node: ViewNode) -> UnsafeMutablePointer<UnsafeMutableRawPointer> {
    node.array(ViewNode.headerBytes + innerCapacity * 16, of: UnsafeMutableRawPointer.self)
  }
  /// The numbers of entries below each child of an inner node.
  @inline(__always) func counts(_ node: ViewNode) -> UnsafeMutablePointer<UInt32> {
    node.array(ViewNode.headerBytes + innerCapacity * 24, of: UInt32.self)
  }

  @inline(__always) func first(_ node: ViewNode) -> ViewEntry {
    ViewEntry(prefix: prefixes(node)[0], key: keys(node)[0])
  }

  @inline(__always) func entriesBelow(_ node: ViewNode) -> Int {
    node.isLeaf ? node.count : TreeLayout.sum(counts(node), node.count)
  }

  @inline(__always) static func sum(_ counts: UnsafeMutablePointer<UInt32>, _ n: Int) -> Int {
    var sum: UInt32 = 0
    for i in 0..<n { sum &+= counts[i] }
    return Int(sum)
  }
}
