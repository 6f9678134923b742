@testable import ChangeTracker

/// Counts nodes the slow way, for tests that look for leaks.
enum ViewNodeAudit {
  /// How many different nodes the roots reach.
  static func reachable(_ pool: ViewNodePool, from roots: [ViewNode?]) -> Int {
    var seen: Set<UnsafeMutableRawPointer> = []
    func visit(_ node: ViewNode) {
      guard seen.insert(node.raw).inserted else { return }
      pool.forEachChild(of: node) { visit($0) }
    }
    for root in roots { if let root { visit(root) } }
    return seen.count
  }
}

extension ResultView {
  /// Whether the view keeps exactly the nodes that it and these versions reach.
  func keepsOnly(_ versions: [ViewVersion]) -> Bool {
    reclaim()
    switch rows {
    case .sorted(let view):
      let roots = versions.map { version -> ViewNode? in if case .sorted(let v) = version { v.root } else { nil } }
      return ViewNodeAudit.reachable(view.pool, from: roots + [view.pool.root, view.latest.root]) == view.nodesInUse
    case .keys(let view):
      let roots = versions.map { version -> ViewNode? in if case .keys(let v) = version { v.root } else { nil } }
      return ViewNodeAudit.reachable(view.pool, from: roots + [view.pool.root, view.latest.root]) == view.nodesInUse
    }
  }
}
