import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// A recipient of calls before and after a property of an object is set. Confined to the object's context.
protocol PropertyWatcher: AnyObject {
  /// nil: watches whether the object exists.
  var ordinal: Int? { get }
  var isActive: Bool { get }
  /// Whether the watched value also depends on other objects.
  var isDerived: Bool { get }
  func willChange()
  /// Compares the value with the last known one, and reports a difference.
  func check()
  /// Called when the unmanaged object was added to a store, under a key.
  func enter(_ context: ModelContext, _ key: Int64)
}

extension PropertyWatcher {
  var isDerived: Bool { false }
  func enter(_ context: ModelContext, _ key: Int64) {}
}

/// One observer of one property of one object. Confined to the store's context.
final class PropertyObserver: PropertyWatcher {
  enum Kind { case setting, insertion, removal, replacement }

  let end: ObserverEnd
  /// nil: observes whether the object exists.
  let ordinal: Int?
  let wantsPrior: Bool
  /// For an inverse: only the first object that links here counts.
  private let isToOne: Bool
  private unowned let context: ModelContext
  private let key: Int64
  private let notify: (Kind, [Int], _ isPrior: Bool) -> Void
  private var lives = true
  /// The value last reported to it; for a list, its elements.
  private var known: [Value] = []
  /// Whether a prior call was made, so that a call after the change must follow.
  private var isAnnounced = false

  init(
    _ context: ModelContext, _ key: Int64, _ ordinal: Int?, isToOne: Bool, wantsPrior: Bool, _ end: ObserverEnd,
    _ notify: @escaping (Kind, [Int], _ isPrior: Bool) -> Void
  ) {
    self.context = context
    self.key = key
    self.ordinal = ordinal
    self.isToOne = isToOne
    self.wantsPrior = wantsPrior
    self.end = end
    self.notify = notify
    lives = context.lives(key)
    known = value
  }

  var isActive: Bool { end.isActive }

  var isDerived: Bool { ordinal.map { context.properties[$0].isDerived } ?? false }

  private var value: [Value] {
    guard let ordinal, lives else { return [] }
    let (store, property) = (context.store, context.properties[ordinal])
    if let origin = property.origin {
      var sources: [Value] = []
      store.reported(
        try store.reading.sources(of: ObjectKey(key), through: origin) { block in
          for source in (isToOne ? block.prefix(1) : block[...]) { sources.append(.link(ObjectKey(source))) }
          return isToOne ? .stop : .proceed
        })
      return sources
    }
    if property.schema.isScalar { return [context.value(key, ordinal)] }
    if property.schema.isMap {
      let entries = store.reported(try store.reading.entries(property.column, ObjectKey(key), 0..<Int.max))
      return entries?.flatMap { [.string($0.key), $0.value] } ?? []
    }
    if property.schema.isCollection {
      return store.reported(try store.reading.values(property.column, ObjectKey(key), 0..<Int.max)) ?? []
    }
    return []
  }

  func willChange() {
    guard wantsPrior, end.isActive else { return }
    isAnnounced = true
    notify(.setting, [], true)
  }

  func check() {
    guard end.isActive else { return }
    let livedBefore = lives
    lives = context.lives(key)
    guard let ordinal else {
      if lives != livedBefore { notify(.setting, [], false) }
      return
    }
    // There is nothing to report of a deleted object.
    guard lives else { return }
    let old = known
    known = value
    let wasAnnounced = isAnnounced
    isAnnounced = false
    if old == known, !wasAnnounced { return }
    guard context.properties[ordinal].schema.isList else { return notify(.setting, [], false) }
    let (kind, indexes) = PropertyObserver.compare(old, known)
    notify(kind, indexes, false)
  }

  /// The kind of change from one list to another. O(n), in one pass: it runs inside setters, and in the turns of the main actor.
  static func compare<T: Equatable>(_ old: [T], _ new: [T]) -> (Kind, [Int]) {
    if old.count == new.count { return (.replacement, new.indices.filter { old[$0] != new[$0] }) }
    // A longer list cannot have lost elements alone, nor a shorter one have gained them alone.
    if old.count < new.count {
      guard let inserted = surplus(of: new, over: old) else { return (.setting, []) }
      return (.insertion, inserted)
    }
    guard let removed = surplus(of: old, over: new) else { return (.setting, []) }
    return (.removal, removed)
  }

  /// The positions in the longer list of the elements without which it would be the shorter one; nil if it never would.
  ///
  /// Each element is matched with the first equal one that is left: if there is any match of all elements, this is one.
  private static func surplus<T: Equatable>(of long: [T], over short: [T]) -> [Int]? {
    let count = long.count - short.count
    var positions: [Int] = []
    positions.reserveCapacity(count)
    for (i, element) in long.enumerated() {
      let matched = i - positions.count
      if matched < short.count, short[matched] == element { continue }
      if positions.count == count { return nil }
      positions.append(i)
    }
    return positions
  }
}

/// Ends the observation of one property, from any thread, whether or not its object is in a store by then.
final class ObserverEnd: Sendable {
  private let flag = StopFlag()
  /// The store of the object.
  private let home = Mutex<(stops: StopSignal, anchor: StoreAnchor)?>(nil)

  /// Closures that release the program's blocks.
  private let blocks = Mutex<[@Sendable () -> Void]>([])

  var isActive: Bool { flag.isActive }

  /// Registers a closure that releases a block if no turn would.
  func lets(go block: @escaping @Sendable () -> Void) { blocks.withLock { $0.append(block) } }

  /// Records that the object is in a store from now on, and retains the store until the end.
  func enter(_ store: Store) {
    if home.withLock({ $0 != nil }) { return }
    let (stops, anchor) = (store.observing.stops, StoreAnchor(store))
    home.withLock { $0 = (stops, anchor) }
    // The observation may have ended meanwhile.
    if !isActive { stop() }
  }

  func stop() {
    flag.stop()
    let home = home.withLock { home in
      defer { home = nil }
      return home
    }
    guard let home else { return letGoBlocks() }
    home.stops.home.withLock { $0 }.unlessTurnComes { self.letGoBlocks() }
    home.stops.raise()
    StoreAnchor.release(home.anchor)
  }

  private func letGoBlocks() {
    let blocks = blocks.withLock { blocks in
      defer { blocks = [] }
      return blocks
    }
    for letGo in blocks { letGo() }
  }
}

extension ModelContext.BoundProperty {
  /// Whether the value also depends on other objects.
  var isDerived: Bool { schema.derivation != nil || origin != nil }
}

extension ModelContext {
  /// Starts to observe a property of an object in this context.
  func observe<Root: Model, Property>(_ key: Int64, _ notifier: PropertyNotifier<Root, Property>, _ end: ObserverEnd) {
    // The context retains the observer, and with it this closure.
    let observer = PropertyObserver(
      self, key, notifier.ordinal, isToOne: Property.self is any ToOneEnd.Type, wantsPrior: notifier.wantsPrior, end
    ) { [unowned self] kind, indexes, isPrior in
      // Made again, so that the store does not retain itself.
      let object: Root = store.live(key)
      notifier.notify(object, kind, indexes, isPrior: isPrior)
    }
    propertyObservers[key, default: []].append(observer)
    store.observing.hasProperties = true
    end.enter(store)
  }
}
