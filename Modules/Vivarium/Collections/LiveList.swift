import StorageInterface
import StoreValues

/// An ordered list of scalars or objects that belongs to one object; duplicates are allowed.
///
/// In a store it is live: it stores no elements, reads the store's version, and changes only inside a write. An unmanaged object's
/// list, or a list created by itself, is kept in memory. Edits do not assign the property: `person.dogs.append(dog)` calls no
/// setter. The list of a deleted object is empty.
///
/// Misuse of an unmanaged list is as with an Array: a position out of bounds traps. In a store, `MisusePolicy` applies to reads and
/// to edits outside a write; a rejected edit in a write makes the write throw when it ends.
public struct LiveList<Element> {
  // Unconstrained on purpose: the operations require `PersistableElement` in extensions. Models that have lists of each other get
  // that conformance from `@Model`, and the compiler cannot check it while it resolves the type of a property that `@Inverse`
  // names.
  final class Box: EditedBox {
    private(set) var elements: [Element]
    /// The observers of the list as the property of an unmanaged object.
    var hooks: EditHooks?

    init(_ elements: [Element]) { self.elements = elements }

    func edit<R>(_ body: (inout [Element]) -> R) -> R {
      hooks?.willEdit()
      defer { hooks?.didEdit() }
      return body(&elements)
    }
  }

  enum Place {
    case memory(Box)
    case store(ListHandle)
  }

  let place: Place

  init(_ handle: ListHandle) { place = .store(handle) }

  /// nil for an unmanaged list.
  var handle: ListHandle? { if case .store(let handle) = place { handle } else { nil } }

  /// Creates an empty unmanaged list.
  public init() { place = .memory(Box([])) }

  /// Creates an unmanaged list of these elements.
  public init<S: Sequence>(_ elements: S) where S.Element == Element { place = .memory(Box(Array(elements))) }
}

extension LiveList where Element: PersistableElement {
  /// The present elements.
  public func toArray() -> [Element] {
    switch place {
    case .memory(let box): box.elements
    case .store(let handle): handle.allElements()
    }
  }
}

extension LiveList: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension LiveList: CustomStringConvertible where Element: PersistableElement {
  public var description: String { toArray().description }
}

extension LiveList: RelationshipProperty where Element: Model {
  public typealias Target = Element
}

extension LiveList: Persistable where Element: PersistableElement {
  public static var _$kind: PropertyKind { .list(Element._$elementType) }
  public static var _$isOptional: Bool { Element._$elementType == .mixed }
  public static var _$target: String? { Element._$elementTarget }
  public static var _$cases: [DefaultValue]? { Element._$elementCases }

  public static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self {
    let context = raw.context
    return Self(ListHandle(store: context.store, context: context, key: key, ordinal: ordinal))
  }

  /// Assigning a list replaces all elements; assigning a list to itself, as `list[0] = x` may do, does nothing.
  public static func _$store(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self) {
    let context = raw.context
    if case .store(let handle) = value.place, handle.context === context, handle.key == key, handle.ordinal == ordinal {
      return
    }
    Self(ListHandle(store: context.store, context: context, key: key, ordinal: ordinal))
      .replaceElements(nil, with: value.toArray(), nil)
  }

  public static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: Self) {
    let elements = value.toArray()
    if elements.isEmpty && !adoption.keepsEmptyLists { return }
    adoption.pending.append(
      Adoption.Pending(ordinal: ordinal, elements: Element._$pending(elements), shape: .list))
  }

  public static func _$loose(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> Self {
    if let list = given as? Self { return list }
    if Value.isNull(given) { return Self([]) }
    guard let given = Value.unwrapped(given), let array = Self.untypedArray(given) else { throw .typeMismatch(given, property) }
    var elements: [Element] = []
    for element in array {
      guard let made = try Element._$looseElement(element, property, of: type) else { throw .typeMismatch(nil, property) }
      elements.append(made)
    }
    return Self(elements)
  }

  private static func untypedArray(_ given: Any) -> [Any?]? {
    (given as? [Any?]) ?? (given as? any KeyValueCollection)?.untypedElements
  }
}
