/// One sort key: a path and a direction. Null sorts first ascending and last descending; after the last key, ties are broken by
/// object key ascending, so every order is total.
///
/// Strings sort by their bytes, which for UTF-8 is the order of code points. With a folding they sort without the differences
/// that it ignores: `Ann`, `ben`, `Čapek`. No order depends on a locale: it would differ on another machine, while stored
/// orders must stay valid.
public struct SortKey: Sendable, Hashable, Codable {
  /// The path whose value sorts.
  public var path: PropertyPath
  /// Whether the least value comes first.
  public var ascending: Bool
  /// The differences between strings to ignore; nil: none. Only for strings and mixed values.
  public var folding: Folding?

  /// A sort key: ascending, without folding by default.
  public init(_ path: PropertyPath, ascending: Bool = true, folding: Folding? = nil) {
    self.path = path
    self.ascending = ascending
    self.folding = folding
  }
}
