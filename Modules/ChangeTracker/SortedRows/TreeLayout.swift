/// The memory layout of a sorted view's nodes: split arrays, so that a search reads only prefixes.
///
/// A leaf has `prefix[leafCapacity]`, `key[leafCapacity]` and, in a wide tree, `second[leafCapacity]`. An inner node has, for
/// each child, the smallest entry below it (the same arrays), the child, and the number of entries below it. Smallest entries are
/// kept exact: a comparison may read a row's full sort key, so an entry of a deleted row must not remain anywhere.
struct TreeLayout: Sendable {
  let leafCapacity: Int
  let innerCapacity: Int
  /// Whether entries have a second prefix: 24 bytes instead of 16.
  let isWide: Bool
  private let entryBytes: Int

  /// 64 and 64: measured best or equal from 10,000 to 700,000 rows; wider nodes cost more copying, narrower ones more memory
  /// and cache misses.
  static let standard = TreeLayout(leafCapacity: 64, innerCapacity: 64)
  static let wide = TreeLayout(leafCapacity: 64, innerCapacity: 64, isWide: true)

  /// Capacities are 4 to 1,000; fewer make no tree and more do not fit a node's header.
  init(leafCapacity: Int, innerCapacity: Int, isWide: Bool = false) {
    self.leafCapacity = min(max(leafCapacity, 4), 1_000)
    self.innerCapacity = min(max(innerCapacity, 4), 1_000)
    self.isWide = isWide
    entryBytes = isWide ? 24 : 16
  }

  var shape: ViewNodePool.Shape {
    ViewNodePool.Shape(
      leafBytes: ViewNode.headerBytes + leafCapacity * entryBytes, innerBytes: countsOffset + innerCapacity * 4,
      childOffset: childOffset)
  }

  @inline(__always) private var childOffset: Int { ViewNode.headerBytes + innerCapacity * entryBytes }
  @inline(__always) private var countsOffset: Int { childOffset + innerCapacity * 8 }

  @inline(__always) func capacity(level: Int) -> Int { level == 0 ? leafCapacity : innerCapacity }

  @inline(__always) func prefixes(_ node: ViewNode) -> UnsafeMutablePointer<UInt64> {
    node.array(ViewNode.headerBytes, of: UInt64.self)
  }
  @inline(__always) func keys(_ node: ViewNode) -> UnsafeMutablePointer<Int64> {
    node.array(ViewNode.headerBytes + capacity(level: node.level) * 8, of: Int64.self)
  }
  /// Of a wide tree alone: elsewhere there is no room for them.
  @inline(__always) func seconds(_ node: ViewNode) -> UnsafeMutablePointer<UInt64> {
    node.array(ViewNode.headerBytes + capacity(level: node.level) * 16, of: UInt64.self)
  }
  /// Of an inner node; never nil up to its count.
  @inline(__always) func children(_ node: ViewNode) -> UnsafeMutablePointer<UnsafeMutableRawPointer> {
    node.array(childOffset, of: UnsafeMutableRawPointer.self)
  }
  /// The numbers of entries below each child of an inner node.
  @inline(__always) func counts(_ node: ViewNode) -> UnsafeMutablePointer<UInt32> {
    node.array(countsOffset, of: UInt32.self)
  }

  @inline(__always) func entry(_ node: ViewNode, at slot: Int) -> ViewEntry {
    ViewEntry(prefix: prefixes(node)[slot], second: isWide ? seconds(node)[slot] : 0, key: keys(node)[slot])
  }

  @inline(__always) func set(_ entry: ViewEntry, in node: ViewNode, at slot: Int) {
    prefixes(node)[slot] = entry.prefix
    keys(node)[slot] = entry.key
    if isWide { seconds(node)[slot] = entry.second }
  }

  /// The smallest entry of the node, or below it.
  @inline(__always) func first(_ node: ViewNode) -> ViewEntry { entry(node, at: 0) }

  @inline(__always) func entriesBelow(_ node: ViewNode) -> Int {
    node.isLeaf ? node.count : TreeLayout.sum(counts(node), node.count)
  }

  @inline(__always) static func sum(_ counts: UnsafeMutablePointer<UInt32>, _ n: Int) -> Int {
    var sum: UInt32 = 0
    for i in 0..<n { sum &+= counts[i] }
    return Int(sum)
  }
}
