import StorageInterface
import StoreValues

extension LiveList: Sequence, Collection, BidirectionalCollection, RandomAccessCollection, MutableCollection,
  RangeReplaceableCollection
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

  /// The element at a position. In a store, reading a position out of bounds is handled as `MisusePolicy` says, and gives an object
  /// that does not exist, or the type's zero.
  public subscript(position: Int) -> Element {
    get {
      switch place {
      case .memory(let box): return box.elements[position]
      case .store(let handle):
        let found: [Element] = position < 0 || position == .max ? [] : handle.elements(position..<position + 1)
        if let element = found.first { return element }
        handle.isMissing(position)
        return Element._$placeholder(handle.store)
      }
    }
    nonmutating set {
      switch place {
      case .memory(let box): box.edit { $0[position] = newValue }
      case .store(let handle):
        handle.set(newValue, at: position)
      }
    }
  }

  /// The elements of a range. Setting it replaces them by any number of elements.
  public subscript(range: Range<Int>) -> Slice<LiveList<Element>> {
    get { Slice(base: self, bounds: range) }
    nonmutating set { replaceSubrange(range, with: Array(newValue)) }
  }

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

  /// Replaces the elements of a range. In a store this requires a write: without one, `MisusePolicy` applies. A range out of
  /// bounds has no effect, and the write throws the error when it ends.
  public nonmutating func replaceSubrange<C: Collection>(
    _ range: Range<Int>, with elements: C
  ) where C.Element == Element {
    replaceSubrange(Optional(range), with: elements)
  }

  /// nil: all elements.
  nonmutating func replaceSubrange<C: Collection>(_ range: Range<Int>?, with elements: C) where C.Element == Element {
    switch place {
    case .memory(let box): box.edit { $0.replaceSubrange(range ?? 0..<$0.count, with: elements) }
    case .store(let handle):
      let range = range ?? 0..<handle.count
      handle.edit(with: elements, over: range) { values in
        (range.isEmpty ? [] : [.remove(range)]) + (values.isEmpty ? [] : [.insert(at: range.lowerBound, values)])
      }
    }
  }

  /// Appends an element; an unmanaged object is first added to the store. In a store this requires a write.
  public nonmutating func append(_ element: Element) { insert(contentsOf: CollectionOfOne(element), at: nil) }

  /// Appends elements, as one edit. Unmanaged objects are first added to the store.
  public nonmutating func append<S: Sequence>(contentsOf elements: S) where S.Element == Element {
    insert(contentsOf: Array(elements), at: nil)
  }

  /// Inserts an element before the one at `position`, or at the end if `position` is `count`.
  public nonmutating func insert(_ element: Element, at position: Int) {
    insert(contentsOf: CollectionOfOne(element), at: position)
  }

  /// Inserts elements before the one at `position`, as one edit, or at the end if `position` is `count`.
  public nonmutating func insert<C: Collection>(contentsOf elements: C, at position: Int) where C.Element == Element {
    insert(contentsOf: elements, at: Optional(position))
  }

  /// nil: at the end.
  private nonmutating func insert<C: Collection>(
    contentsOf elements: C, at position: Int?
  ) where C.Element == Element {
    switch place {
    case .memory(let box): box.edit { $0.insert(contentsOf: elements, at: position ?? $0.count) }
    case .store(let handle):
      handle.edit(with: elements) { [.insert(at: position ?? handle.count, $0)] }
    }
  }

  /// Removes the element at a position and returns it; out of bounds as with the subscript. An object itself stays in the store.
  @discardableResult
  public nonmutating func remove(at position: Int) -> Element {
    let element = self[position]
    if case .store(let handle) = place, position < 0 || position == .max {
      // No range can express this position.
      handle.attempt { _ throws(StoreError) in throw .indexOutOfRange(position, count: handle.count) }
    } else {
      removeSubrange(position..<position + 1)
    }
    return element
  }

  // The standard library's versions of these trap if the list is empty, and another process may make it empty.

  /// Removes the first element; an empty list in a store is handled like a position out of bounds.
  @discardableResult
  public nonmutating func removeFirst() -> Element { remove(at: 0) }

  /// Removes the last element; an empty list in a store is handled like a position out of bounds.
  @discardableResult
  public nonmutating func removeLast() -> Element { remove(at: count - 1) }

  /// Removes up to `number` elements from the start.
  public nonmutating func removeFirst(_ number: Int) { removeSubrange(0..<Swift.min(Swift.max(number, 0), count)) }

  /// Removes up to `number` elements from the end.
  public nonmutating func removeLast(_ number: Int) {
    let count = count
    removeSubrange(count - Swift.min(Swift.max(number, 0), count)..<count)
  }

  /// Removes the elements of a range. Objects stay in the store.
  public nonmutating func removeSubrange(_ range: Range<Int>) {
    switch place {
    case .memory(let box): box.edit { $0.removeSubrange(range) }
    case .store(let handle): handle.edit(.remove(range))
    }
  }

  /// Removes all elements. Objects stay in the store; `keepingCapacity` only applies to unmanaged lists.
  public nonmutating func removeAll(keepingCapacity: Bool = false) {
    switch place {
    case .memory(let box): box.edit { $0.removeAll(keepingCapacity: keepingCapacity) }
    case .store(let handle): handle.edit(.clear)
    }
  }

  /// Moves an element so that its position is `target` after the move.
  public nonmutating func move(from source: Int, to target: Int) {
    switch place {
    case .memory(let box): box.edit { $0.insert($0.remove(at: source), at: target) }
    case .store(let handle): handle.edit(.move(from: source, to: target))
    }
  }

  /// Exchanges two elements. In a store these are two moves, and may be reported to observers as such.
  public nonmutating func swapAt(_ i: Int, _ j: Int) {
    if i == j { return }
    switch place {
    case .memory(let box): box.edit { $0.swapAt(i, j) }
    case .store(let handle):
      let (low, high) = (Swift.min(i, j), Swift.max(i, j))
      handle.edit(.move(from: high, to: low), .move(from: low &+ 1, to: high))
    }
  }
}
