extension LiveSet where Element: PersistableElement & Hashable {
  /// Whether every member is among these. O(n) over both.
  public func isSubset(of others: some Sequence<Element>) -> Bool {
    let known = Set(others)
    return allSatisfy { known.contains($0) }
  }

  /// Whether each of these is a member. O(log n) for each.
  public func isSuperset(of others: some Sequence<Element>) -> Bool { others.allSatisfy { contains($0) } }

  /// Whether one of these is a member. O(log n) for each.
  public func intersects(_ others: some Sequence<Element>) -> Bool { others.contains { contains($0) } }
}

extension LiveMap where Value: PersistableElement {
  /// Takes entries in; of two values of a key, the map's and the new one, `combine` makes the one that stays. In the order of the
  /// entries, so that a key that comes twice is combined twice.
  public nonmutating func merge(
    _ entries: some Sequence<(key: String, value: Value)>, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    for (key, value) in Array(entries) { self[key] = try self[key].map { try combine($0, value) } ?? value }
  }
}
