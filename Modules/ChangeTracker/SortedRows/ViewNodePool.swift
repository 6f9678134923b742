import Synchronization

/// The memory of one view: allocates nodes, tracks which versions still reach a replaced node, and frees it as soon as none
/// does.
///
/// Nodes have no reference count. A node carries the epoch it was written in; a version is the root of an epoch. A replaced
/// node is put on the dead list of the newest version that reaches it. When that version is released, each node of its list
/// moves to the next older version if it existed in that one, and is freed otherwise. So a node is kept exactly as long as a
/// living version can reach it, even if a reader keeps an old version for hours, and publishing or releasing needs no walk over
/// nodes.
///
/// Invariant: a node in use is reachable from `root`, or is on exactly one dead list, or is in `retired`.
///
/// **Threads.** One owner at a time, except `release`, which any thread may call.
final class ViewNodePool {
  /// The sizes of the two kinds of nodes, and the place of an inner node's children.
  struct Shape: Sendable {
    let leafBytes: Int
    let innerBytes: Int
    /// The offset of an inner node's children, `count` optional pointers, in bytes.
    let childOffset: Int
  }

  private struct LiveVersion {
    let epoch: UInt64
    var dead: [UnsafeMutableRawPointer] = []
  }

  /// There is at most one spare node for so many in use, besides a few.
  static let spareShare = 16

  let shape: Shape
  /// The epoch being written; versions have lower ones.
  private(set) var epoch: UInt64 = 1
  /// The root of the epoch being written; nil: empty.
  var root: ViewNode?
  private(set) var leavesInUse = 0
  private(set) var innersInUse = 0
  private var spareLeaves: [UnsafeMutableRawPointer] = []
  private var spareInners: [UnsafeMutableRawPointer] = []
  /// Ascending by epoch.
  private var live: [LiveVersion] = []
  /// Nodes of earlier epochs that this epoch has replaced.
  private var retired: [UnsafeMutableRawPointer] = []
  private let released = Mutex<[UInt64]>([])

  init(_ shape: Shape) { self.shape = shape }

  var nodesInUse: Int { leavesInUse + innersInUse }
  var bytesInUse: Int { leavesInUse * shape.leafBytes + innersInUse * shape.innerBytes }
  /// The memory allocated from the system, spare nodes included.
  var bytesHeld: Int { bytesInUse + spareLeaves.count * shape.leafBytes + spareInners.count * shape.innerBytes }
  var liveVersions: Int { live.count }

  deinit {
    // Nothing else refers to the pool: the view and all versions retain it. By the invariant every node is freed exactly once
    // here.
    if let root { deallocateAll(root) }
    for version in live { for node in version.dead { node.deallocate() } }
    for node in retired { node.deallocate() }
    for node in spareLeaves { node.deallocate() }
    for node in spareInners { node.deallocate() }
  }

  private func deallocateAll(_ node: ViewNode) {
    forEachChild(of: node) { deallocateAll($0) }
    node.raw.deallocate()
  }

  func forEachChild(of node: ViewNode, _ body: (ViewNode) -> Void) {
    if node.isLeaf { return }
    let children = node.array(shape.childOffset, of: UnsafeMutableRawPointer?.self)
    for i in 0..<node.count { if let child = children[i] { body(ViewNode(child)) } }
  }
}

// MARK: - Nodes

extension ViewNodePool {
  /// A node of the epoch being written, with an uninitialised body.
  @inline(__always) func makeNode(level: Int) -> ViewNode {
    let node: ViewNode
    if level == 0 {
      leavesInUse += 1
      node = ViewNode(spareLeaves.popLast() ?? .allocate(byteCount: shape.leafBytes, alignment: 16))
    } else {
      innersInUse += 1
      node = ViewNode(spareInners.popLast() ?? .allocate(byteCount: shape.innerBytes, alignment: 16))
    }
    node.birth = epoch
    node.level = level
    node.count = 0
    return node
  }

  /// The node itself if this epoch made it, else a copy that replaces it.
  @inline(__always) func writable(_ node: ViewNode) -> ViewNode {
    if node.birth == epoch { return node }
    let copy = makeNode(level: node.level)
    let bytes = node.isLeaf ? shape.leafBytes : shape.innerBytes
    copy.count = node.count
    (copy.raw + ViewNode.headerBytes).copyMemory(
      from: node.raw + ViewNode.headerBytes, byteCount: bytes - ViewNode.headerBytes)
    retired.append(node.raw)
    return copy
  }

  /// Records that the epoch being written no longer uses the node.
  @inline(__always) func retire(_ node: ViewNode) {
    if node.birth == epoch { free(node) } else { retired.append(node.raw) }
  }

  private func free(_ node: ViewNode) {
    // Spare nodes are kept for the next small batches. After a large one, which replaces most nodes, and after a view shrank, the
    // system gets the memory back: the next large batch allocates again.
    if node.isLeaf {
      leavesInUse -= 1
      if spareLeaves.count < 64 + leavesInUse / ViewNodePool.spareShare { spareLeaves.append(node.raw) } else { node.raw.deallocate() }
    } else {
      innersInUse -= 1
      if spareInners.count < 16 + innersInUse / ViewNodePool.spareShare { spareInners.append(node.raw) } else { node.raw.deallocate() }
    }
  }
}

// MARK: - Versions

extension ViewNodePool {
  /// Makes the epoch being written a version and begins the next. O(nodes replaced in it).
  func publish() -> UInt64 {
    if let last = live.indices.last {
      for node in retired {
        if ViewNode(node).birth <= live[last].epoch { live[last].dead.append(node) } else { free(ViewNode(node)) }
      }
    } else {
      for node in retired { free(ViewNode(node)) }
    }
    retired.removeAll(keepingCapacity: true)
    let published = epoch
    live.append(LiveVersion(epoch: published))
    epoch += 1
    return published
  }

  /// Records that a version is no longer read. Any thread; O(1).
  func release(_ epoch: UInt64) { released.withLock { $0.append(epoch) } }

  /// Frees the nodes that only released versions kept.
  func reclaim() {
    let epochs = released.withLock { released in
      defer { released.removeAll(keepingCapacity: true) }
      return released
    }
    for epoch in epochs {
      guard let i = live.lastIndex(where: { $0.epoch == epoch }) else { continue }
      let dead = live.remove(at: i).dead
      for node in dead {
        if i > 0, ViewNode(node).birth <= live[i - 1].epoch {
          live[i - 1].dead.append(node)
        } else {
          free(ViewNode(node))
        }
      }
    }
  }

  /// Reverts the epoch being written to the root of the last published version, which must still live. O(nodes written in the
  /// epoch).
  func rollBack(to published: ViewNode?) {
    if let root { freeWritten(root) }
    retired.removeAll(keepingCapacity: true)
    root = published
  }

  /// A node of an earlier epoch only has nodes of earlier epochs below it.
  private func freeWritten(_ node: ViewNode) {
    guard node.birth == epoch else { return }
    forEachChild(of: node) { freeWritten($0) }
    free(node)
  }
}
