import StoreValues

/// The observers of single properties of an unmanaged object, which keeps them when it is added to a store.
///
/// Confined like the object. For the macro's code, which calls `willSet` and `didSet`.
public final class UnmanagedObservers {
  private var observers: [any PropertyWatcher]

  init(_ first: any PropertyWatcher) { observers = [first] }

  func add(_ observer: any PropertyWatcher) {
    observers.removeAll { !$0.isActive }
    observers.append(observer)
  }

  /// Call before a property of the object is set.
  public func willSet(_ ordinal: Int) {
    // Iterates over a copy, because a handler may observe and stop.
    for observer in observers where observer.ordinal == ordinal { observer.willChange() }
  }

  /// Call after a property of the object was set.
  public func didSet(_ ordinal: Int) {
    for observer in observers where observer.ordinal == ordinal { observer.check() }
    observers.removeAll { !$0.isActive }
  }

  /// Moves the observers to a store to which the object was added under a key.
  func enter(_ context: ModelContext, _ key: Int64) {
    let entering = observers
    observers = []
    for observer in entering where observer.isActive { observer.enter(context, key) }
  }
}

extension Model {
  /// Observes a property of this unmanaged object until it is added to a store.
  func addUnmanaged(_ observer: any PropertyWatcher) {
    if let observers = _$observers { observers.add(observer) } else { _$observers = UnmanagedObservers(observer) }
  }
}

/// One observer of one property of an unmanaged object.
final class UnmanagedObserver: PropertyWatcher {
  /// nil: whether the object is invalid, which an unmanaged object never is.
  let ordinal: Int?
  private let end: ObserverEnd
  private let wantsPrior: Bool
  private let read: () -> Any?
  private let notify: (PropertyObserver.Kind, [Int], _ isPrior: Bool) -> Void
  private let observe: (ModelContext, Int64) -> Void
  /// The value last reported to it.
  private var known = ObservedValue.nothing
  private var hooks: EditHooks?
  /// Whether a prior call was made, so that a call after the change must follow.
  private var isAnnounced = false

  init<Root: Model, Property>(_ object: Root, _ notifier: PropertyNotifier<Root, Property>, _ end: ObserverEnd) {
    self.end = end
    ordinal = notifier.ordinal
    wantsPrior = notifier.wantsPrior
    // Weak, because the object retains the observer.
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

  /// Reads the present value, and follows it if it is a collection.
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

  /// Compares the value with the last known one, and reports a difference.
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
