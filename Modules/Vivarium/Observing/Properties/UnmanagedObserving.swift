import StoreValues

/// The observers of single properties of an object that is in no store. They go into one with the object.
///
/// Confined like the object. What the macro writes calls `willSet` and `didSet`; nobody else need know of it.
public final class UnmanagedObservers {
  private var observers: [any PropertyWatcher]

  init(_ first: any PropertyWatcher) { observers = [first] }

  func add(_ observer: any PropertyWatcher) {
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

extension Model {
  /// Observes a property of this object, which is in no store, until it is in one.
  func addUnmanaged(_ observer: any PropertyWatcher) {
    if let observers = _$observers { observers.add(observer) } else { _$observers = UnmanagedObservers(observer) }
  }
}

/// One observer of one property of an object that is in no store.
final class UnmanagedObserver: PropertyWatcher {
  /// nil: whether the object is invalid, which one in no store never is.
  let ordinal: Int?
  private let end: ObserverEnd
  private let wantsPrior: Bool
  private let read: () -> Any?
  private let notify: (PropertyObserver.Kind, [Int], _ isPrior: Bool) -> Void
  private let observe: (ModelContext, Int64) -> Void
  /// The value that was reported to it last.
  private var known = ObservedValue.nothing
  private var hooks: EditHooks?
  /// Whether a call before a change was made, after which there is one in any case.
  private var isAnnounced = false

  init<Root: Model, Property>(_ object: Root, _ notifier: PropertyNotifier<Root, Property>, _ end: ObserverEnd) {
    self.end = end
    ordinal = notifier.ordinal
    wantsPrior = notifier.wantsPrior
    // Weak: the object has the observer.
    read = { [weak object] in object.flatMap { notifier.value(of: $0) } }
    notify = { [weak object] kind, indexes, isPrior in
      if let object { notifier.notify(object, kind, indexes, isPrior: isPrior) }
    }
    observe = { context, key in
      context.observe(key, notifier, end)
      notifier.enter(context.store.live(key))
    }
    look()
  }

  var isActive: Bool { end.isActive }

  /// Takes notice of the value of now, and follows the collection that it may be.
  private func look() {
    guard ordinal != nil else { return }
    let value = read()
    known = ObservedValue(value)
    let found = (value as? any HookedCollection)?.hooks
    if found === hooks { return }
    hooks?.remove(self)
    found?.add(self)
    hooks = found
  }

  func willChange() {
    guard wantsPrior, isActive else { return }
    isAnnounced = true
    notify(.setting, [], true)
  }

  /// Compares with what the observer knows, and notifies it of a difference.
  func check() {
    guard isActive else { return }
    let old = known
    look()
    let wasAnnounced = isAnnounced
    isAnnounced = false
    if old == known, !wasAnnounced { return }
    let (kind, indexes) = known.change(from: old)
    notify(kind, indexes, false)
  }

  func enter(_ context: ModelContext, _ key: Int64) {
    hooks?.remove(self)
    hooks = nil
    observe(context, key)
  }
}
