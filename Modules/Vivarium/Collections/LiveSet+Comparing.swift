extension LiveSet where Element: PersistableElement & Hashable {
  /// Whether `others` has every member. O(n) over both.
  public func isSubset(of others: some Sequence<Element>) -> Bool {
    let known = Set(others)
    return allSatisfy { known.contains($0) }
  }

  /// Whether every element of `others` is a member. O(log n) for each.
  public func isSuperset(of others: some Sequence<Element>) -> Bool { others.allSatisfy { contains($0) } }

  /// Whether any element of `others` is a member. O(log n) for each.
  public func intersects(_ others: some Sequence<Element>) -> Bool { others.contains { contains($0) } }
}

extension LiveMap where Value: PersistableElement {
  /// Adds entries; if a key exists, `combine` computes the value from the present and the new one. In the order of the entries, so
  /// a key that occurs twice is combined twice.
  public nonmutating func merge(
    _ entries: some Sequence<(key: String, value: Value)>, fileID: StaticString = #fileID, line: UInt = #line,
    uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    for (key, value) in Array(entries) {
      self[key, fileID: fileID, line: line] = try self[key].map { try combine($0, value) } ?? value
    }
  }
}
