import StoreValues

/// A property's value as its observer last saw it, for comparison: objects by identity, everything else by value.
enum ObservedValue: Equatable {
  case nothing
  case one(Element)
  case list([Element])
  case members([Element])
  case entries([MapKey: Element])

  enum Element: Equatable {
    case value(Value)
    case object(AnyObject)
    /// A value that no store keeps, from a computed property.
    case other(any Equatable)

    /// nil for a value that cannot be compared.
    init?(_ value: Any?) {
      switch Value.unwrapped(value) {
      case nil: self = .value(.null)
      case let scalar as any Scalar: self = .value(scalar.persistedValue)
      case let object as any Model: self = object.isManaged ? .value(.link(ObjectKey(object._$key))) : .object(object)
      case let other as any Equatable: self = .other(other)
      default: return nil
      }
    }

    static func == (a: Self, b: Self) -> Bool {
      switch (a, b) {
      case (.value(let a), .value(let b)): a == b
      case (.object(let a), .object(let b)): a === b
      case (.other(let a), .other(let b)): isEqual(a, b)
      default: false
      }
    }

    private static func isEqual<T: Equatable>(_ a: T, _ b: any Equatable) -> Bool { (b as? T) == a }
  }

  /// `nothing` for a value that cannot be compared.
  init(_ value: Any?) {
    switch Value.unwrapped(value) {
    case let list as any PositionedCollection: self = .list(list.untypedElements.compactMap { Element($0) })
    case let collection as any KeyValueCollection: self = .members(collection.untypedElements.compactMap { Element($0) })
    case let map as any KeyValueMap:
      let entries = map.untypedEntries.compactMap { entry in Element(entry.value).map { (MapKey(entry.key), $0) } }
      self = .entries(Dictionary(entries) { $1 })
    default: self = Element(value).map { .one($0) } ?? .nothing
    }
  }
}

extension ObservedValue {
  /// The kind of change from `old` to this value; for a list, with positions.
  func change(from old: ObservedValue) -> (PropertyObserver.Kind, [Int]) {
    guard case .list(let before) = old, case .list(let after) = self else { return (.setting, []) }
    return PropertyObserver.compare(before, after)
  }
}

/// A collection whose elements have positions.
protocol PositionedCollection: KeyValueCollection {}
extension LiveList: PositionedCollection where Element: PersistableElement {}
