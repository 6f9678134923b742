import StorageInterface
import StoreValues

// The edits of a list. They need an open write in a store, and a refused one makes the write throw when it ends, with the line of the
// edit: that is what the last two parameters are for, which nobody writes.

extension LiveList where Element: PersistableElement {
  /// The element at a position. In a store, reading a position out of bounds is handled as `MisusePolicy` says, and gives an object
  /// that does not exist, or the type's zero.
  public subscript(position: Int, fileID fileID: StaticString = #fileID, line line: UInt = #line) -> Element {
    get { element(at: position) }
    nonmutating set { setElement(newValue, at: position, SourcePlace(fileID, line)) }
  }

  /// The elements of a range. Setting it replaces them by any number of elements.
  public subscript(
    range: Range<Int>, fileID fileID: StaticString = #fileID, line line: UInt = #line
  ) -> Slice<LiveList<Element>> {
    get { Slice(base: self, bounds: present(range.lowerBound, range.upperBound)) }
    nonmutating set { replaceElements(range, with: Array(newValue), SourcePlace(fileID, line)) }
  }

  /// Replaces the elements of a range. In a store this requires a write: without one, `MisusePolicy` applies. A range out of
  /// bounds has no effect, and the write throws the error when it ends.
  public nonmutating func replaceSubrange<C: Collection>(
    _ range: Range<Int>, with elements: C, fileID: StaticString = #fileID, line: UInt = #line
  ) where C.Element == Element {
    replaceElements(range, with: elements, SourcePlace(fileID, line))
  }

  /// Appends an element; an unmanaged object is first added to the store. In a store this requires a write.
  public nonmutating func append(_ element: Element, fileID: StaticString = #fileID, line: UInt = #line) {
    insertElements(CollectionOfOne(element), at: nil, SourcePlace(fileID, line))
  }

  /// Appends elements, as one edit. Unmanaged objects are first added to the store.
  public nonmutating func append<S: Sequence>(
    contentsOf elements: S, fileID: StaticString = #fileID, line: UInt = #line
  ) where S.Element == Element {
    insertElements(Array(elements), at: nil, SourcePlace(fileID, line))
  }

  /// Inserts an element before the one at `position`, or at the end if `position` is `count`.
  public nonmutating func insert(
    _ element: Element, at position: Int, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    insertElements(CollectionOfOne(element), at: position, SourcePlace(fileID, line))
  }

  /// Inserts elements before the one at `position`, as one edit, or at the end if `position` is `count`.
  public nonmutating func insert<C: Collection>(
    contentsOf elements: C, at position: Int, fileID: StaticString = #fileID, line: UInt = #line
  ) where C.Element == Element {
    insertElements(elements, at: position, SourcePlace(fileID, line))
  }

  /// Removes the element at a position and returns it; out of bounds as with the subscript. An object itself stays in the store.
  @discardableResult
  public nonmutating func remove(at position: Int, fileID: StaticString = #fileID, line: UInt = #line) -> Element {
    removeElement(at: position, SourcePlace(fileID, line))
  }

  // The standard library's versions of these trap if the list is empty, and another process may make it empty.

  /// Removes the first element; an empty list in a store is handled like a position out of bounds.
  @discardableResult
  public nonmutating func removeFirst(fileID: StaticString = #fileID, line: UInt = #line) -> Element {
    removeElement(at: 0, SourcePlace(fileID, line))
  }

  /// Removes the last element; an empty list in a store is handled like a position out of bounds.
  @discardableResult
  public nonmutating func removeLast(fileID: StaticString = #fileID, line: UInt = #line) -> Element {
    removeElement(at: count - 1, SourcePlace(fileID, line))
  }

  // Without the line: of a list that is a variable the standard library's version would be preferred to one with default arguments.

  /// Removes up to `number` elements from the start.
  public nonmutating func removeFirst(_ number: Int) { removeElements(0..<Swift.min(Swift.max(number, 0), count), nil) }

  /// Removes up to `number` elements from the end.
  public nonmutating func removeLast(_ number: Int) {
    let count = count
    removeElements(count - Swift.min(Swift.max(number, 0), count)..<count, nil)
  }

  /// Removes the elements of a range. Objects stay in the store.
  public nonmutating func removeSubrange(_ range: Range<Int>, fileID: StaticString = #fileID, line: UInt = #line) {
    removeElements(range, SourcePlace(fileID, line))
  }

  /// Removes all elements. Objects stay in the store; `keepingCapacity` only applies to unmanaged lists.
  public nonmutating func removeAll(keepingCapacity: Bool = false, fileID: StaticString = #fileID, line: UInt = #line) {
    removeEveryElement(keepingCapacity: keepingCapacity, SourcePlace(fileID, line))
  }

  /// Moves an element so that its position is `target` after the move.
  public nonmutating func move(
    from source: Int, to target: Int, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    moveElement(from: source, to: target, SourcePlace(fileID, line))
  }

  /// Exchanges two elements. In a store these are two moves, and may be reported to observers as such.
  public nonmutating func swapAt(_ i: Int, _ j: Int, fileID: StaticString = #fileID, line: UInt = #line) {
    swapElements(i, j, SourcePlace(fileID, line))
  }
}
