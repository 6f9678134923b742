import ChangeTracker
import StorageInterface
import StoreValues

/// Scalars or objects that belong to one object, each once.
///
/// In a store it is live: it holds nothing, reads what the store's version says, and changes only inside a write. It is
/// walked in the order of the values, objects in the order in which they were added to the store. Values are the same as
/// `Value.order(to:)` says it: of `0.0` and `-0.0` the one that came first stays. A set of an unmanaged object, or one of its
/// own, is kept in memory, in the order of insertion. Edits do not assign the property. The set of an object that is gone is
/// empty.
public struct LiveSet<Element> {
  // Unconstrained for the same reason as `LiveList`.
  final class Box: EditedBox {
    private(set) var elements: [Element] = []
    private(set) var members: Set<AnyHashable> = []
    /// Who observes the set as the property of an unmanaged object.
    var hooks: EditHooks?

    func insert(_ element: Element, _ identity: AnyHashable) -> Bool {
      if members.contains(identity) { return false }
      hooks?.willEdit()
      defer { hooks?.didEdit() }
      members.insert(identity)
      elements.append(element)
      return true
    }

    /// Takes out the members that are `isOut`.
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

  /// Nil for one in memory.
  var handle: ListHandle? { if case .store(let handle) = place { handle } else { nil } }

  /// An empty set in memory.
  public init() { place = .memory(Box()) }
}

extension LiveSet where Element: Hashable {
  /// What makes a member the same as another one in memory: the same as in a store, where Swift would hold two NaNs to be
  /// different, and two spellings of "é" to be one.
  fileprivate static func identity(_ element: Element) -> AnyHashable {
    if let scalar = element as? any Scalar { return AnyHashable(scalar.persistedValue.orderKey) }
    return AnyHashable(element)
  }
}

extension LiveSet where Element: PersistableElement & Hashable {
  /// A set in memory of these elements, each once.
  public init<S: Sequence>(_ elements: S) where S.Element == Element {
    self.init()
    for element in elements { insert(element) }
  }

  /// The members as they are now.
  public func toArray() -> [Element] {
    switch place {
    case .memory(let box): box.elements
    case .store(let handle): handle.allElements()
    }
  }

  /// O(log n) in a store.
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

  /// Adds a member; an unmanaged object is added to the store first. Returns whether it was not in the set.
  @discardableResult
  public nonmutating func insert(_ element: Element) -> Bool {
    switch place {
    case .memory(let box): return box.insert(element, LiveSet.identity(element))
    case .store(let handle):
      return handle.change(with: element) { (value, write) throws(StorageError) in
        try write.insert(member: value, into: handle.column, ObjectKey(handle.key))
      }
    }
  }

  /// Takes a member out. Returns whether it was in the set.
  @discardableResult
  public nonmutating func remove(_ element: Element) -> Bool {
    switch place {
    case .memory(let box):
      let identity = LiveSet.identity(element)
      return box.remove([identity]) { LiveSet.identity($0) == identity }
    case .store(let handle):
      guard let value = handle.stored(element) else { return false }
      return handle.change { (write) throws(StorageError) in
        try write.remove(member: value, from: handle.column, ObjectKey(handle.key))
      }
    }
  }

  /// Takes all members out. Objects stay in the store.
  public nonmutating func removeAll() {
    switch place {
    case .memory(let box): _ = box.remove(box.members) { _ in true }
    case .store(let handle):
      handle.change { (write) throws(StorageError) in
        try write.removeAllMembers(of: handle.column, ObjectKey(handle.key))
        return true
      }
    }
  }

  /// Inserts these, one after the other; unmanaged objects are added to the store first.
  public nonmutating func formUnion(_ others: some Sequence<Element>) {
    for element in Array(others) { insert(element) }
  }

  /// Takes those of these out that are members.
  public nonmutating func subtract(_ others: some Sequence<Element>) {
    for element in Array(others) { remove(element) }
  }

  /// Takes all members out that are not among these. O(n) over both.
  public nonmutating func formIntersection(_ others: some Sequence<Element>) {
    let kept = Set(others.map { LiveSet.identity($0) })
    for element in toArray() where !kept.contains(LiveSet.identity(element)) { remove(element) }
  }
}

extension LiveSet: Sequence, Collection, BidirectionalCollection, RandomAccessCollection
where Element: PersistableElement & Hashable {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// How many members there are now.
  public var count: Int {
    switch place {
    case .memory(let box): box.elements.count
    case .store(let handle): handle.count
    }
  }

  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }

  /// A member by its place in the order. Outside of it an error by `MisusePolicy` in a store.
  public subscript(position: Int) -> Element {
    switch place {
    case .memory(let box): return box.elements[position]
    case .store(let handle):
      if position >= 0, let element = handle.element(Element.self, at: position) { return element }
      handle.isMissing(position)
      return Element._$placeholder(handle.store)
    }
  }

  /// Walks the members as they are when it is made. Of a set in a store they are read as they are walked, some at a time.
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

  /// Assigning a set makes the members those; members that stay are not touched.
  public static func _$store(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self) {
    let own = _$load(raw, key, ordinal)
    if case .store(let given) = value.place, case .store(let handle) = own.place, given.context === handle.context,
      given.key == key, given.ordinal == ordinal
    {
      return
    }
    let elements = value.toArray()
    own.formIntersection(elements)
    own.formUnion(elements)
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
