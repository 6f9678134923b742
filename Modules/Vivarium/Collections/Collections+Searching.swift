import StoreValues

/// Searches read many elements at a time, as `for in` does. The standard library's searches subscript each position, and in a store
/// each subscript is a read.
extension LiveList where Element: PersistableElement {
  /// The position of the first element that satisfies `predicate`, or nil. O(position).
  public func firstIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? {
    for (position, element) in enumerated() where try predicate(element) { return position }
    return nil
  }

  /// The position of the last element that satisfies `predicate`, or nil. O(n): the list is read from its start.
  public func lastIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? {
    var found: Int?
    for (position, element) in enumerated() where try predicate(element) { found = position }
    return found
  }
}

extension LiveList where Element: PersistableElement & Equatable {
  /// The position of the first element equal to `element`, or nil. O(position).
  public func firstIndex(of element: Element) -> Int? { firstIndex { $0 == element } }

  /// The position of the last element equal to `element`, or nil. O(n): the list is read from its start.
  public func lastIndex(of element: Element) -> Int? { lastIndex { $0 == element } }
}
