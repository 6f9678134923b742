import Values

/// The observers of single properties of an object that is in no store. They go into one with the object.
///
/// Confined like the object. What the macro writes calls `willSet` and `didSet`; nobody else need know of it.
public final class UnmanagedObservers {
  private var observers: [UnmanagedObserver]

  init(_ first: UnmanagedObserver) { observers = [first] }

  func add(_ observer: UnmanagedObserver) {
    observers.removeAll { !$0.isActive }
    observers.append(observer)
  }

  /// Before a property of the object is set.
  public func willSet(_ ordinal: Int) {
    // A copy: a handler may observe and stop.
    for observer in observers where observer.ordinal == ordinal { observer.willChange() }
  }

  /// After a property of the object was set.
  public func didSet(_ ordinal: Int) {
    for observer in observers where observer.ordinal == ordinal { observer.check() }
    observers.removeAll { !$0.isActive }
  }

  /// The object is in a store now, under a key.
  func enter(_ context: ModelContext, _ key: Int64) {
    let entering = observers
    observers = []
    for observer in entering where observer.isActive { observer.enter(context, key) }
  }
}

/// One observer of one property of an object that is in no store.
final class UnmanagedObserver {
  /// nil: whether the object is invalid, which one in no store never is.
  let ordinal: Int?
  private let end: ObserverEnd
  private let wantsPrior: Bool
  private let isList: Bool
  private let read: () -> Any?
  private let tell: (PropertyObserver.Kind, [Int], _ isPrior: Bool) -> Void
  private let observe: (ModelContext, Int64) -> Void
  /// The value it was told last.
  private var known = UnmanagedValue.nothing
  private var hooks: EditHooks?
  /// Whether a call before a change was made, after which there is one in any case.
  private var isAnnounced = false

  init<Root: Model, Property>(_ object: Root, _ teller: PropertyTeller<Root, Property>, _ end: ObserverEnd) {
    self.end = end
    ordinal = teller.ordinal
    wantsPrior = teller.wantsPrior
    isList = teller.ordinal.map { Root._$schema.properties[$0].isList } ?? false
    // Weak: the object has the observer.
    read = { [weak object] in object.map { teller.value(of: $0) } }
    tell = { [weak object] kind, indexes, isPrior in
      if let object { teller.tell(object, kind, indexes, isPrior: isPrior) }
    }
    observe = { context, key in context.observe(key, teller, end) }
    look()
  }

  var isActive: Bool { end.isActive }

  /// Takes notice of the value of now, and follows the collection that it may be.
  private func look() {
    guard ordinal != nil else { return }
    let value = read()
    known = UnmanagedValue(value)
    let found = (value as? any HookedCollection)?.hooks
    if found === hooks { return }
    hooks?.remove(self)
    found?.add(self)
    hooks = found
  }

  func willChange() {
    guard wantsPrior, isActive else { return }
    isAnnounced = true
    tell(.setting, [], true)
  }

  /// Compares with what the observer knows, and tells it of a difference.
  func check() {
    guard isActive else { return }
    let old = known
    look()
    let wasAnnounced = isAnnounced
    isAnnounced = false
    if old == known, !wasAnnounced { return }
    if isList, case .elements(let before) = old, case .elements(let after) = known {
      let (kind, indexes) = PropertyObserver.compare(before, after)
      return tell(kind, indexes, false)
    }
    tell(.setting, [], false)
  }

  func enter(_ context: ModelContext, _ key: Int64) {
    hooks?.remove(self)
    hooks = nil
    observe(context, key)
  }
}

/// A property of an object in no store, to be compared: objects by what they are, all else by value.
private enum UnmanagedValue: Equatable {
  case nothing
  case one(Element)
  case elements([Element])
  case entries([String: Element])

  enum Element: Equatable {
    case value(Value)
    case object(AnyObject)

    init(_ value: Any?) {
      if let object = Value.unwrapped(value) as? any Model, !object.isManaged {
        self = .object(object)
      } else {
        self = .value(CopiedValue(unmanaged: value).scalar)
      }
    }

    static func == (a: Self, b: Self) -> Bool {
      switch (a, b) {
      case (.value(let a), .value(let b)): a == b
      case (.object(let a), .object(let b)): a === b
      default: false
      }
    }
  }

  init(_ value: Any?) {
    switch Value.unwrapped(value) {
    case let collection as any KeyValueCollection: self = .elements(collection.looseElements.map { Element($0) })
    case let map as any KeyValueMap:
      self = .entries(Dictionary(map.looseEntries.map { ($0.key, Element($0.value)) }) { $1 })
    default: self = .one(Element(value))
    }
  }
}
