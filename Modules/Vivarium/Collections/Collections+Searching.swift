import StoreValues

// Searches read many elements at a time, as `for in` does. The standard library's searches subscript each position, and in a store
// each subscript is a read.

extension LiveList where Element: PersistableElement {
  /// The position of the first element that satisfies `predicate`, or nil. O(position).
  public func firstIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? { try firstPosition(predicate) }

  /// The position of the last element that satisfies `predicate`, or nil. O(n): the list is read from its start.
  public func lastIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? { try lastPosition(predicate) }
}

extension LiveList where Element: PersistableElement & Equatable {
  /// The position of the first element equal to `element`, or nil. O(position).
  public func firstIndex(of element: Element) -> Int? { firstPosition { $0 == element } }

  /// The position of the last element equal to `element`, or nil. O(n): the list is read from its start.
  public func lastIndex(of element: Element) -> Int? { lastPosition { $0 == element } }
}

extension LiveSet where Element: PersistableElement & Hashable {
  /// The position of the first member that satisfies `predicate`, or nil. O(position).
  public func firstIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? { try firstPosition(predicate) }

  /// The position of the last member that satisfies `predicate`, or nil. O(n): the set is read from its start.
  public func lastIndex(where predicate: (Element) throws -> Bool) rethrows -> Int? { try lastPosition(predicate) }

  /// The position of a member in the set's order, or nil. O(position); `contains` is O(log n).
  public func firstIndex(of element: Element) -> Int? { firstPosition { $0 == element } }

  /// As `firstIndex(of:)`, because a member is in a set once.
  public func lastIndex(of element: Element) -> Int? { firstPosition { $0 == element } }
}

extension Sequence {
  fileprivate func firstPosition(_ predicate: (Element) throws -> Bool) rethrows -> Int? {
    for (position, element) in enumerated() where try predicate(element) { return position }
    return nil
  }

  fileprivate func lastPosition(_ predicate: (Element) throws -> Bool) rethrows -> Int? {
    var found: Int?
    for (position, element) in enumerated() where try predicate(element) { found = position }
    return found
  }
}
