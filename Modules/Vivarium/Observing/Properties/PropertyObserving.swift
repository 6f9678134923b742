import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// What an observer of one property wants to be notified of.
public struct PropertyObservingOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A call at once, with the value of now.
  public static let initial = Self(rawValue: 1)
  /// The value before.
  public static let old = Self(rawValue: 2)
  /// The value of now.
  public static let new = Self(rawValue: 4)
  /// A call before each change made here, too.
  public static let prior = Self(rawValue: 8)
}

/// One change of one property.
public struct ObservedChange<Property> {
  /// What happened to a property.
  public enum Kind: Sendable, Hashable {
    /// The property has another value; of a list, other elements in a way that is none of the others; of a set or
    /// map, any.
    case setting
    /// Elements were put into a list, taken out of it, or replaced.
    case insertion, removal, replacement
  }

  /// What happened: of a list more than that it changed.
  public let kind: Kind
  /// With `.old`; nil for lists, sets and maps, which have no value of their own.
  public let oldValue: Property?
  /// With `.new`.
  public let newValue: Property?
  /// Whether the change is still to come.
  public let isPrior: Bool
  /// Positions of a list: in the new one, for a removal in the old one.
  public let indexes: [Int]
}

extension Model {
  /// Runs `handler` inside the setter, before the next statement of whoever sets: for user interfaces that follow one
  /// property. It also runs when a refresh brings what others wrote, before the store's notifications, and when a
  /// cancelled write, or a savepoint that is undone, takes a value back.
  ///
  /// ```swift
  /// token = dog.observe(\.age) { dog, change in print(change.oldValue, change.newValue) }
  /// ```
  ///
  /// Also of lists, sets and maps, and of `\.isInvalidated`. An equal value is no change. In a store the handler must
  /// not write: `.writeInObserver`. Use `observe(_:)` without a path for everything else.
  ///
  /// The path may lead over links, `\.best?.name`, and to a computed property: what it reads of objects is found out
  /// by reading it, and when one of these properties changes, or one of the links is another, it is read again, at
  /// the cost of one reading. A path over a list, `\.dogs.first?.name`, works too, at the cost of what it reads of
  /// the list. It must be a value that can be compared. Whether an object is there is no property, but of the object
  /// itself.
  ///
  /// Of an object that is gone nothing is observed but `\.isInvalidated`: the token is inactive, the handler is not called, and
  /// the log says so, as it does of a path that reads no property. `observe(_:)` of several paths throws instead.
  ///
  /// An object that is in no store yet is observed in the same way, and goes into one with its observers: `add` is no
  /// change, and what is set from then on is reported. Over links it is observed by names only: see `observe(paths:)`.
  public func observe<Property>(
    _ path: KeyPath<Self, Property>, options: PropertyObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping (Self, ObservedChange<Property>) -> Void
  ) -> NotificationToken {
    if let refused = store?.tokenElsewhere(fileID, line) { return refused }
    let ordinal = Self.ordinal(of: path)
    let end = ObserverEnd()
    let notifier = PropertyNotifier(ordinal, options, end, read: { (object: Self) in object[keyPath: path] }, handler)
    guard ordinal != nil || path == \Self.isInvalidated else {
      do throws(StoreError) { try follow(.reads(path), notifier, end) } catch {
        StoreLog.warning("\(error)")
        return .ended(fileID, line)
      }
      notifier.begin(self)
      return NotificationToken(fileID: fileID, line: line) { end.stop() }
    }
    if let context, ordinal != nil {
      do throws(StoreError) { try context.check(_$key) } catch {
        context.store.readOfNothing(error)
        return .ended(fileID, line)
      }
    }
    notifier.begin(self)
    if let context { context.observe(_$key, notifier, end) } else { addUnmanaged(UnmanagedObserver(self, notifier, end)) }
    return NotificationToken(fileID: fileID, line: line) { end.stop() }
  }
}

/// Says to one handler what happened to one property, and keeps what it said last. Confined to the object's context.
final class PropertyNotifier<Root: Model, Property> {
  /// nil: whether the object is there, or what lies at the end of a path.
  let ordinal: Int?
  let wantsPrior: Bool
  private let options: PropertyObservingOptions
  private let read: (Root) -> Property?
  private let handler: StoppableBlock<(Root, ObservedChange<Property>)>
  private var last: Property?
  /// Makes the object of a store anew that was reported last.
  private var remake: (() -> Property?)?

  init(
    _ ordinal: Int?, _ options: PropertyObservingOptions, _ end: ObserverEnd, read: @escaping (Root) -> Property?,
    _ handler: @escaping (Root, ObservedChange<Property>) -> Void
  ) {
    self.ordinal = ordinal
    self.options = options
    self.read = read
    let block = StoppableBlock<(Root, ObservedChange<Property>)> { handler($0.0, $0.1) }
    self.handler = block
    end.lets(go: { block.drop() })
    wantsPrior = options.contains(.prior)
  }

  /// The value that the first change leads from, which is reported at once where that is wanted.
  func begin(_ object: Root) {
    let now = value(of: object)
    keep(now, of: object)
    guard options.contains(.initial) else { return }
    let change = ObservedChange(
      kind: .setting, oldValue: nil, newValue: options.contains(.new) ? now : nil, isPrior: false, indexes: [])
    handler.call((object, change))
  }

  func notify(_ object: Root, _ kind: PropertyObserver.Kind, _ indexes: [Int], isPrior: Bool) {
    let old = if let remake { remake() } else { last }
    let now = isPrior ? nil : value(of: object)
    // Before the handler, which may set the property of an object in no store.
    if !isPrior { keep(now, of: object) }
    let change = ObservedChange(
      kind: kind.observed(), oldValue: options.contains(.old) ? old : nil,
      newValue: options.contains(.new) ? now : nil, isPrior: isPrior, indexes: indexes)
    handler.call((object, change))
  }

  func value(of object: Root) -> Property? { read(object) }

  /// The object, which was in no store, is in one now.
  func enter(_ object: Root) { if remake == nil { keep(last, of: object) } }

  /// A collection has no value of its own, and a live one would keep its store. So would an object: the store has the
  /// observer until it takes a turn after the token's end, and one without a context takes none.
  private func keep(_ value: Property?, of object: Root) {
    (last, remake) = (nil, nil)
    guard options.contains(.old) else { return }
    switch Value.unwrapped(value) {
    case is any KeyValueCollection, is any KeyValueMap: break
    case let linked as any Model where object.isManaged && linked.isManaged: remake = Self.remaking(linked)
    default: last = value
    }
  }

  private static func remaking<T: Model>(_ object: T) -> (() -> Property?)? {
    guard let context = object.context else { return nil }
    let key = object._$key
    return { [weak context] in
      guard let context else { return nil }
      let remade: T = context.store.live(key)
      return remade as? Property
    }
  }
}

extension PropertyObserver.Kind {
  fileprivate func observed<P>() -> ObservedChange<P>.Kind {
    switch self {
    case .setting: .setting
    case .insertion: .insertion
    case .removal: .removal
    case .replacement: .replacement
    }
  }
}

extension ModelContext {
  /// Before a property of an object is set here.
  func willSet(_ key: Int64, _ ordinal: Int) {
    for observer in propertyObservers[key] ?? [] where observer.ordinal == ordinal {
      store.notifying { observer.willChange() }
    }
  }

  /// After a property of an object was set here.
  func didSet(_ key: Int64, _ ordinal: Int) {
    compare(key, ordinal)
    if properties[ordinal].schema.isRelationship { store.checkInverses(of: properties[ordinal].column) }
  }

  /// Notifies those who observe one property of one object of what is different.
  func compare(_ key: Int64, _ ordinal: Int) {
    for observer in propertyObservers[key] ?? [] where observer.ordinal == ordinal {
      store.notifying { observer.check() }
    }
  }
}

extension Store {
  /// Runs a handler that must not write.
  fileprivate func notifying(_ body: () -> Void) {
    let outer = observing.beginNotifyingProperty()
    defer { observing.notifying = outer }
    body()
  }

  /// Notifies the observers of properties of what is different now, after more may have changed than what somebody set.
  /// - Parameter touched: the objects that may be different, beside derived properties; nil: any.
  func checkPropertyObservers(of touched: Set<ObjectPlace>? = nil) {
    guard observing.hasProperties else { return }
    observing.hasProperties = false
    observing.comparison.begin()
    defer { observing.comparison.end() }
    for context in allContexts {
      // Copies: a handler may register and stop observers, of keys that come later too.
      for key in Array(context.propertyObservers.keys) {
        let isTouched = touched?.contains(ObjectPlace(table: context.table, key: key)) ?? true
        for observer in context.propertyObservers[key] ?? [] where isTouched || observer.isDerived {
          propertyCheckCount += 1
          notifying { observer.check() }
        }
      }
    }
    endStoppedPropertyObservers()
  }

  /// Notifies the observers of inverses that follow a relationship back, after it was set in some object.
  func checkInverses(of column: ColumnID) {
    for context in allContexts where !context.propertyObservers.isEmpty {
      guard context.properties.contains(where: { $0.origin == column }) else { continue }
      for key in Array(context.propertyObservers.keys) {
        for observer in context.propertyObservers[key] ?? [] {
          guard let ordinal = observer.ordinal, context.properties[ordinal].origin == column else { continue }
          notifying { observer.check() }
        }
      }
    }
  }

  /// Lets go of what was stopped.
  func endStoppedPropertyObservers() {
    observing.hasProperties = false
    for context in allContexts where !context.propertyObservers.isEmpty {
      context.propertyObservers = context.propertyObservers.compactMapValues { observers in
        let active = observers.filter(\.isActive)
        return active.isEmpty ? nil : active
      }
      if !context.propertyObservers.isEmpty { observing.hasProperties = true }
    }
  }

  /// Refuses what a handler of a property must not do.
  func refuseInObserver(_ what: @autoclosure () -> String) throws(StoreError) {
    guard observing.isNotifyingProperty else { return }
    throw StoreError(
      .writeInObserver, "\(what()) was called by an observer of a property, inside the setter it observes.",
      remedy: "Write later, or observe the object, whose block may write.")
  }
}

extension StoreError.Code {
  /// An observer of a property tried to write.
  public static let writeInObserver = Self(rawValue: "writeInObserver")
  /// A path leads over what is no link to one object: a list, set or map, or a value.
  public static let notToOne = Self(rawValue: "notToOne")
}
