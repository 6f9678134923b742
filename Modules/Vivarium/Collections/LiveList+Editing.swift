import StorageInterface
import StoreValues

extension LiveList: Sequence, Collection, BidirectionalCollection, RandomAccessCollection, MutableCollection,
  RangeReplaceableCollection
where Element: PersistableElement {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// How many elements there are now.
  public var count: Int {
    switch place {
    case .memory(let box): box.elements.count
    case .store(let handle): handle.count
    }
  }

  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }

  /// An element. A position outside is an error by `MisusePolicy` in a store: an object that is not there, or the type's zero.
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
        handle.edit(with: CollectionOfOne(newValue)) { [.set(at: position, $0[0])] }
      }
    }
  }

  /// A part of the list. Setting one replaces the elements of the range by those given, however many they are.
  public subscript(range: Range<Int>) -> Slice<LiveList<Element>> {
    get { Slice(base: self, bounds: range) }
    nonmutating set { replaceSubrange(range, with: Array(newValue)) }
  }

  /// Walks the elements as they are when it is made. Of a list in a store they are read as they are walked, some at a time.
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

  /// Replaces the elements of a range. In a store this needs a write: a mistake, as a range outside is, is reported by
  /// `MisusePolicy`.
  public nonmutating func replaceSubrange<C: Collection>(
    _ range: Range<Int>, with elements: C
  ) where C.Element == Element {
    replaceSubrange(Optional(range), with: elements)
  }

  /// nil: all of them.
  nonmutating func replaceSubrange<C: Collection>(_ range: Range<Int>?, with elements: C) where C.Element == Element {
    switch place {
    case .memory(let box): box.edit { $0.replaceSubrange(range ?? 0..<$0.count, with: elements) }
    case .store(let handle):
      let range = range ?? 0..<handle.count
      handle.edit(with: elements) { values in
        (range.isEmpty ? [] : [.remove(range)]) + (values.isEmpty ? [] : [.insert(at: range.lowerBound, values)])
      }
    }
  }

  /// Adds an element at the end; an unmanaged object is added to the store first. In a store this needs a write.
  public nonmutating func append(_ element: Element) { insert(contentsOf: CollectionOfOne(element), at: nil) }

  /// Adds elements at the end, as one edit. Unmanaged objects are added to the store first.
  public nonmutating func append<S: Sequence>(contentsOf elements: S) where S.Element == Element {
    insert(contentsOf: Array(elements), at: nil)
  }

  /// Puts an element before the one at `position`; at `count` it comes last.
  public nonmutating func insert(_ element: Element, at position: Int) {
    insert(contentsOf: CollectionOfOne(element), at: position)
  }

  /// Puts elements before the one at `position`, as one edit; at `count` they come last.
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

  /// Takes the element at a position out, and returns it; outside as with the subscript. An object itself stays in the store.
  @discardableResult
  public nonmutating func remove(at position: Int) -> Element {
    let element = self[position]
    if case .store(let handle) = place, position < 0 || position == .max {
      // No range says this.
      handle.attempt { _ throws(StoreError) in throw .indexOutOfRange(position, count: handle.count) }
    } else {
      removeSubrange(position..<position + 1)
    }
    return element
  }

  // The standard library's own of these end the process when the list is empty, which another process may make it.

  /// Takes the first element out; of an empty list in a store as with a position outside.
  @discardableResult
  public nonmutating func removeFirst() -> Element { remove(at: 0) }

  /// Takes the last element out; of an empty list in a store as with a position outside.
  @discardableResult
  public nonmutating func removeLast() -> Element { remove(at: count - 1) }

  /// Takes that many elements out at the beginning, or all there are.
  public nonmutating func removeFirst(_ number: Int) { removeSubrange(0..<Swift.min(Swift.max(number, 0), count)) }

  /// Takes that many elements out at the end, or all there are.
  public nonmutating func removeLast(_ number: Int) {
    let count = count
    removeSubrange(count - Swift.min(Swift.max(number, 0), count)..<count)
  }

  /// Takes the elements of a range out. Objects stay in the store.
  public nonmutating func removeSubrange(_ range: Range<Int>) {
    switch place {
    case .memory(let box): box.edit { $0.removeSubrange(range) }
    case .store(let handle): handle.edit(.remove(range))
    }
  }

  /// Takes all elements out. Objects stay in the store; `keepingCapacity` is for lists in memory alone.
  public nonmutating func removeAll(keepingCapacity: Bool = false) {
    switch place {
    case .memory(let box): box.edit { $0.removeAll(keepingCapacity: keepingCapacity) }
    case .store(let handle): handle.edit(.clear)
    }
  }

  /// Takes an element out and puts it back so that it stands at `target`.
  public nonmutating func move(from source: Int, to target: Int) {
    switch place {
    case .memory(let box): box.edit { $0.insert($0.remove(at: source), at: target) }
    case .store(let handle): handle.edit(.move(from: source, to: target))
    }
  }

  /// Exchanges two elements: in a store as two moves, which may be reported to observers as such.
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
