/// One key of an order: a path and a direction. Null sorts first ascending and last descending; after the
/// last key, ties are broken by object key ascending, so every order is total.
///
/// Texts are ordered by their bytes, which for UTF-8 is the order of their characters' numbers. With a folding they are
/// ordered by what is left of them without the differences that do not count: `Ann`, `ben`, `Čapek`. No order depends on a
/// locale: it would be another one on the next machine, and what is kept in order is kept for good.
public struct SortKey: Sendable, Hashable, Codable {
  /// What is ordered by.
  public var path: PropertyPath
  /// Whether the least comes first.
  public var ascending: Bool
  /// Which differences between texts do not count; nil: all do. Of texts and mixed values alone.
  public var folding: Folding?

  /// An order by a path: ascending, and every difference of texts counts, unless said otherwise.
  public init(_ path: PropertyPath, ascending: Bool = true, folding: Folding? = nil) {
    self.path = path
    self.ascending = ascending
    self.folding = folding
  }
}
