import StoreValues

// What the standard library's protocols require, to the letter: a form with further arguments meets no requirement, though they have
// defaults. Generic code, key paths and methods that are passed as functions use these; any other code means the forms of
// LiveList+Editing.swift, whose errors say the line.

extension LiveList: Sequence, Collection, BidirectionalCollection, RandomAccessCollection, MutableCollection,
  RangeReplaceableCollection, PositionalCollection
where Element: PersistableElement {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The present number of elements.
  public var count: Int {
    switch place {
    case .memory(let box): box.elements.count
    case .store(let handle): handle.count
    }
  }

  /// 0, because a walk may leave out elements, and code that reserves space by this number traps if there are fewer.
  public var underestimatedCount: Int { 0 }

  /// Walks the elements as they are when the iterator is made. In a store, reads them in portions during the walk.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// See `makeIterator`.
  public struct Iterator: IteratorProtocol {
    private var memory: IndexingIterator<[Element]>
    private let walk: StoreWalk<Element>?

    fileprivate init(_ list: LiveList) {
      switch list.place {
      case .memory(let box): (memory, walk) = (box.elements.makeIterator(), nil)
      case .store(let handle): (memory, walk) = ([].makeIterator(), handle.walk())
      }
    }

    public mutating func next() -> Element? { walk.map { $0.next() } ?? memory.next() }
  }

  /// The element at a position.
  @_disfavoredOverload public subscript(position: Int) -> Element {
    get { element(at: position) }
    nonmutating set { setElement(newValue, at: position, nil) }
  }

  /// The elements of a range.
  @_disfavoredOverload public subscript(range: Range<Int>) -> Slice<LiveList<Element>> {
    get { Slice(base: self, bounds: present(range.lowerBound, range.upperBound)) }
    nonmutating set { replaceElements(range, with: Array(newValue), nil) }
  }

  /// Replaces the elements of a range.
  @_disfavoredOverload public nonmutating func replaceSubrange<C: Collection>(
    _ range: Range<Int>, with elements: C
  ) where C.Element == Element {
    replaceElements(range, with: elements, nil)
  }

  /// Appends an element.
  @_disfavoredOverload public nonmutating func append(_ element: Element) {
    insertElements(CollectionOfOne(element), at: nil, nil)
  }

  /// Appends elements, as one edit.
  @_disfavoredOverload public nonmutating func append<S: Sequence>(contentsOf elements: S) where S.Element == Element {
    insertElements(Array(elements), at: nil, nil)
  }

  /// Inserts an element before the one at `position`.
  @_disfavoredOverload public nonmutating func insert(_ element: Element, at position: Int) {
    insertElements(CollectionOfOne(element), at: position, nil)
  }

  /// Inserts elements before the one at `position`, as one edit.
  @_disfavoredOverload public nonmutating func insert<C: Collection>(
    contentsOf elements: C, at position: Int
  ) where C.Element == Element {
    insertElements(elements, at: position, nil)
  }

  /// Removes the element at a position and returns it.
  @_disfavoredOverload @discardableResult public nonmutating func remove(at position: Int) -> Element {
    removeElement(at: position, nil)
  }

  /// Removes the first element.
  @_disfavoredOverload @discardableResult public nonmutating func removeFirst() -> Element { removeElement(at: 0, nil) }

  /// Removes the last element. No requirement of a protocol, but the standard library's traps if there is none.
  @_disfavoredOverload @discardableResult public nonmutating func removeLast() -> Element { removeElement(at: count - 1, nil) }

  /// Removes the elements of a range.
  @_disfavoredOverload public nonmutating func removeSubrange(_ range: Range<Int>) { removeElements(range, nil) }

  /// Removes all elements.
  @_disfavoredOverload public nonmutating func removeAll(keepingCapacity: Bool = false) {
    removeEveryElement(keepingCapacity: keepingCapacity, nil)
  }

  /// Exchanges two elements.
  @_disfavoredOverload public nonmutating func swapAt(_ i: Int, _ j: Int) { swapElements(i, j, nil) }
}
