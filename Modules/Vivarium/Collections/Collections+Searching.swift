import StoreValues

/// Searches walk a collection as `for in` does: many elements a time. The searches that the standard library has for every collection ask
/// for each position by itself, which in a store is a read of its own.
extension LiveList where Element: PersistableElement {
  /// The position of the first element that passes, or nil. Costs as much as a walk to there.
  public func firstIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? {
    for (position, element) in enumerated() where try predicate(element) { return position }
    return nil
  }

  /// The position of the last element that passes, or nil. Costs as much as a walk over all.
  public func lastIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? {
    var found: Int?
    for (position, element) in enumerated() where try predicate(element) { found = position }
    return found
  }
}

extension LiveList where Element: PersistableElement & Equatable {
  /// The position of the first element that is equal to this one, or nil. Costs as much as a walk to there.
  public func firstIndex(of element: Element) -> Int? { firstIndex { $0 == element } }

  /// The position of the last element that is equal to this one, or nil. Costs as much as a walk over all.
  public func lastIndex(of element: Element) -> Int? { lastIndex { $0 == element } }
}
