import Synchronization

/// The memory of one view: hands out nodes, knows which versions still see a replaced node, and takes it back
/// as soon as none does.
///
/// No node has a reference count. A node carries the epoch it was written in; a version is the root of an
/// epoch. A node that is replaced goes on the dead list of the newest version that sees it. When that version is
/// let go, each node of its list moves to the next older version if it was there already then, and is free
/// otherwise. So a node is kept exactly as long as a living version can reach it, also under a reader that
/// keeps an old version for hours, and publishing or releasing costs no walk over nodes.
///
/// Invariant: a node in use is reachable from `root`, or is on exactly one dead list, or is in `retired`.
///
/// **Threads.** One owner at a time, except `release`, which any thread may call.
final class ViewNodePool {
  /// The sizes of the two kinds of node, and where an inner node's children are.
  struct Shape: Sendable {
    let leafBytes: Int
    let innerBytes: Int
    /// Bytes from the start of an inner node to its children, `count` optional pointers.
    let childOffset: Int
  }

  private struct LiveVersion {
    let epoch: UInt64
    var dead: [UnsafeMutableRawPointer] = []
  }

  let shape: Shape
  /// The epoch that is being written; versions have lower ones.
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
  /// What the pool has taken from the system, spare nodes included.
  var bytesHeld: Int { bytesInUse + spareLeaves.count * shape.leafBytes + spareInners.count * shape.innerBytes }
  var liveVersions: Int { live.count }

  deinit {
    // Nobody else refers to the pool: the view and all versions hold it. By the invariant every node is freed
    // exactly once here.
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
  /// An empty node of the epoch being written; its body is not initialised.
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

  /// The node itself where this epoch made it, else a copy of it that takes its place.
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

  /// Says that the epoch being written no longer uses the node.
  @inline(__always) func retire(_ node: ViewNode) {
    if node.birth == epoch { free(node) } else { retired.append(node.raw) }
  }

  private func free(_ node: ViewNode) {
    // Spare nodes are kept for the next batch, which needs about as many, and bounded so that a view that
    // shrank gives its memory back.
    if node.isLeaf {
      leavesInUse -= 1
      if spareLeaves.count < 64 + leavesInUse / 2 { spareLeaves.append(node.raw) } else { node.raw.deallocate() }
    } else {
      innersInUse -= 1
      if spareInners.count < 16 + innersInUse / 2 { spareInners.append(node.raw) } else { node.raw.deallocate() }
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

  /// Says that nobody reads a version any more. Any thread; O(1).
  func release(_ epoch: UInt64) { released.withLock { $0.append(epoch) } }

  /// Takes back what released versions kept.
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

  /// Undoes the epoch being written: back to the root of the version published last, which must still live.
  /// O(nodes written in the epoch).
  func rollBack(to published: ViewNode?) {
    if let root { freeWritten(root) }
    retired.removeAll(keepingCapacity: true)
    root = published
  }

  /// A node of an earlier epoch has only nodes of earlier epochs below it.
  private func freeWritten(_ node: ViewNode) {
    guard node.birth == epoch else { return }
    forEachChild(of: node) { freeWritten($0) }
    free(node)
  }
}
