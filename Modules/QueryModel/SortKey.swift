/// One key of an order: a path and a direction. Null sorts first ascending and last descending; after the
/// last key, ties are broken by object key ascending, so every order is total.
public struct SortKey: Sendable, Hashable, Codable {
  public var path: PropertyPath
  public var ascending: Bool

  public init(_ path: PropertyPath, ascending: Bool = true) {
    self.path = path
    self.ascending = ascending
  }
}
