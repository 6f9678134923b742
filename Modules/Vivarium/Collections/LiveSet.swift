import ChangeTracker
import StorageInterface
import StoreValues

/// A set of scalars or objects that belongs to one object.
///
/// In a store it is live: it stores no members, reads the store's version, and changes only inside a write. Its order is that of
/// the values; objects are in the order in which they were added to the store. Values are equal if `Value.order(to:)` says so: of
/// `0.0` and `-0.0` the first one added remains. An unmanaged object's set, or a set created by itself, is kept in memory, in
/// insertion order. Edits do not assign the property. The set of a deleted object is empty. Edits that a store refuses make the write
/// throw when it ends, with the line of the edit: that is what their last two parameters are for, which nobody writes.
public struct LiveSet<Element> {
  // Unconstrained for the same reason as `LiveList`.
  final class Box: EditedBox {
    private(set) var elements: [Element] = []
    private(set) var members: Set<AnyHashable> = []
    /// The observers of the set as the property of an unmanaged object.
    var hooks: EditHooks?

    func insert(_ element: Element, _ identity: AnyHashable) -> Bool {
      if members.contains(identity) { return false }
      hooks?.willEdit()
      defer { hooks?.didEdit() }
      members.insert(identity)
      elements.append(element)
      return true
    }

    /// Removes the members that satisfy `isOut`; `identities` are theirs.
    func remove(_ identities: Set<AnyHashable>, where isOut: (Element) -> Bool) -> Bool {
      if members.isDisjoint(with: identities) { return false }
      hooks?.willEdit()
      defer { hooks?.didEdit() }
      members.subtract(identities)
      elements.removeAll(where: isOut)
      return true
    }
  }

  enum Place {
    case memory(Box)
    case store(ListHandle)
  }

  let place: Place

  init(_ handle: ListHandle) { place = .store(handle) }

  /// nil for an unmanaged set.
  var handle: ListHandle? { if case .store(let handle) = place { handle } else { nil } }

  /// Creates an empty unmanaged set.
  public init() { place = .memory(Box()) }
}

extension LiveSet where Element: Hashable {
  /// The identity of a member of an unmanaged set, which is the same as in a store: Swift would treat two NaNs as different, and
  /// two encodings of "é" as equal.
  fileprivate static func identity(_ element: Element) -> AnyHashable {
    if let mixed = element as? AnyValue { return AnyHashable(MixedIdentity(mixed)) }
    if let scalar = element as? any Scalar { return AnyHashable(scalar.persistedValue.orderKey) }
    return AnyHashable(element)
  }
}

extension LiveSet where Element: PersistableElement & Hashable {
  /// Creates an unmanaged set of these elements, without duplicates.
  public init<S: Sequence>(_ elements: S) where S.Element == Element {
    self.init()
    for element in elements { insert(element) }
  }

  /// The present members.
  public func toArray() -> [Element] {
    switch place {
    case .memory(let box): box.elements
    case .store(let handle): handle.allElements()
    }
  }

  /// Whether an element is a member. O(log n) in a store.
  public func contains(_ element: Element) -> Bool {
    switch place {
    case .memory(let box): return box.members.contains(LiveSet.identity(element))
    case .store(let handle):
      guard let value = handle.stored(element) else { return false }
      return handle.read { (reading) throws(StorageError) in
        try reading.contains(member: value, in: handle.column, ObjectKey(handle.key))
      } ?? false
    }
  }

  /// Adds a member; an unmanaged object is first added to the store. Returns whether it was new.
  @discardableResult
  public nonmutating func insert(_ element: Element, fileID: StaticString = #fileID, line: UInt = #line) -> Bool {
    switch place {
    case .memory(let box): return box.insert(element, LiveSet.identity(element))
    case .store(let handle):
      return handle.change(with: element, at: SourcePlace(fileID, line)) { (value, write) throws(StorageError) in
        try write.insert(member: value, into: handle.column, ObjectKey(handle.key))
      }
    }
  }

  /// Removes a member. Returns whether it was in the set.
  @discardableResult
  public nonmutating func remove(_ element: Element, fileID: StaticString = #fileID, line: UInt = #line) -> Bool {
    switch place {
    case .memory(let box):
      let identity = LiveSet.identity(element)
      return box.remove([identity]) { LiveSet.identity($0) == identity }
    case .store(let handle):
      guard let value = handle.stored(element) else { return false }
      return handle.change(at: SourcePlace(fileID, line)) { (write) throws(StorageError) in
        try write.remove(member: value, from: handle.column, ObjectKey(handle.key))
      }
    }
  }

  /// Removes all members. Objects stay in the store.
  public nonmutating func removeAll(fileID: StaticString = #fileID, line: UInt = #line) {
    switch place {
    case .memory(let box): _ = box.remove(box.members) { _ in true }
    case .store(let handle):
      handle.change(at: SourcePlace(fileID, line)) { (write) throws(StorageError) in
        try write.removeAllMembers(of: handle.column, ObjectKey(handle.key))
        return true
      }
    }
  }

  /// Inserts the elements of `others`; unmanaged objects are first added to the store. If one is rejected, none is inserted.
  public nonmutating func formUnion(
    _ others: some Sequence<Element>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let others = Array(others)
    guard case .store(let handle) = place else { return others.forEach { insert($0) } }
    handle.changeWhole(with: others, at: SourcePlace(fileID, line)) { (values, write) throws(StorageError) in
      var changed = false
      for value in values { if try write.insert(member: value, into: handle.column, ObjectKey(handle.key)) { changed = true } }
      return changed
    }
  }

  /// Removes the members that are in `others`.
  public nonmutating func subtract(
    _ others: some Sequence<Element>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    for element in Array(others) { remove(element, fileID: fileID, line: line) }
  }

  /// Removes the members that are not in `others`. O(n) over both.
  public nonmutating func formIntersection(
    _ others: some Sequence<Element>, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let kept = Set(others.map { LiveSet.identity($0) })
    for element in toArray() where !kept.contains(LiveSet.identity(element)) {
      remove(element, fileID: fileID, line: line)
    }
  }
}

extension LiveSet: Sequence, Collection, BidirectionalCollection, RandomAccessCollection, PositionalCollection
where Element: PersistableElement & Hashable {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The present number of members.
  public var count: Int {
    switch place {
    case .memory(let box): box.elements.count
    case .store(let handle): handle.count
    }
  }

  /// 0, because a walk may leave out elements, and code that reserves space by this number traps if there are fewer.
  public var underestimatedCount: Int { 0 }

  /// The member at a position in the set's order. In a store, a position out of bounds is handled as `MisusePolicy` says.
  public subscript(position: Int) -> Element {
    switch place {
    case .memory(let box): return box.elements[position]
    case .store(let handle):
      if position >= 0, let element = handle.element(Element.self, at: position) { return element }
      handle.isMissing(position)
      return Element._$placeholder(handle.store)
    }
  }

  /// Walks the members as they are when the iterator is made. In a store, reads them in portions during the walk.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// See `makeIterator`.
  public struct Iterator: IteratorProtocol {
    private var memory: IndexingIterator<[Element]>
    private let walk: StoreWalk<Element>?

    fileprivate init(_ set: LiveSet) {
      switch set.place {
      case .memory(let box): (memory, walk) = (box.elements.makeIterator(), nil)
      case .store(let handle): (memory, walk) = ([].makeIterator(), handle.walk())
      }
    }

    public mutating func next() -> Element? { walk.map { $0.next() } ?? memory.next() }
  }
}

extension LiveSet: ExpressibleByArrayLiteral where Element: PersistableElement & Hashable {
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension LiveSet: CustomStringConvertible where Element: PersistableElement & Hashable {
  public var description: String { toArray().description }
}

extension LiveSet: RelationshipProperty where Element: Model {
  public typealias Target = Element
}

extension LiveSet: KeyValueCollection where Element: PersistableElement & Hashable {
  var untypedElements: [Any?] { map { $0 } }
}

extension LiveSet: Persistable where Element: PersistableElement & Hashable {
  public static var _$kind: PropertyKind { .set(Element._$elementType) }
  public static var _$isOptional: Bool { Element._$elementType == .mixed }
  public static var _$target: String? { Element._$elementTarget }
  public static var _$cases: [DefaultValue]? { Element._$elementCases }

  public static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self {
    let context = raw.context
    return Self(ListHandle(store: context.store, context: context, key: key, ordinal: ordinal))
  }

  /// Assigning a set replaces the members; members of both sets are not touched. If a member is rejected, the set stays as it was.
  public static func _$store(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self) {
    let own = _$load(raw, key, ordinal)
    if case .store(let given) = value.place, case .store(let handle) = own.place, given.context === handle.context,
      given.key == key, given.ordinal == ordinal
    {
      return
    }
    guard case .store(let handle) = own.place else { return }
    handle.changeWhole(with: value.toArray()) { (values, write) throws(StorageError) in
      try write.replaceSet(handle.column, ObjectKey(handle.key), values)
    }
  }

  public static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: Self) {
    let elements = value.toArray()
    if elements.isEmpty && !adoption.keepsEmptyLists { return }
    adoption.pending.append(
      Adoption.Pending(ordinal: ordinal, elements: Element._$pending(elements), shape: .set))
  }

  public static func _$loose(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> Self {
    if let set = given as? Self { return set }
    return Self(try LiveList<Element>._$loose(given, property, of: type).toArray())
  }
}
