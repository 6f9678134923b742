@testable import ChangeTracker

extension ResultView {
  /// A sorted view with small nodes, so that few rows make a deep tree.
  static func testing(_ entries: [ViewEntry], leaf: Int, inner: Int, isWide: Bool = false) -> ResultView {
    ResultView(.sorted(SortedView(entries, layout: TreeLayout(leafCapacity: leaf, innerCapacity: inner, isWide: isWide))))
  }
}
