import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// When an observer of one property is called, and with which values.
public struct PropertyObservingOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An immediate call with the present value.
  public static let initial = Self(rawValue: 1)
  /// The value before the change.
  public static let old = Self(rawValue: 2)
  /// The value after the change.
  public static let new = Self(rawValue: 4)
  /// Also a call before each change made in this context.
  public static let prior = Self(rawValue: 8)
}

/// One change of one property.
public struct ObservedChange<Property> {
  /// The kind of a change.
  public enum Kind: Sendable, Hashable {
    /// The property has a new value; a list has other elements in a way that is not one of the other kinds; a set or map changed in
    /// any way.
    case setting
    /// Elements were inserted into a list, removed from it, or replaced.
    case insertion, removal, replacement
  }

  /// The kind of change; for a list more specific than `setting`.
  public let kind: Kind
  /// With `.old`. nil for lists, sets and maps, whose old elements are not kept.
  public let oldValue: Property?
  /// With `.new`.
  public let newValue: Property?
  /// Whether the call precedes the change.
  public let isPrior: Bool
  /// Positions in a list: in the new one, or for a removal in the old one.
  public let indexes: [Int]
}

extension Model {
  /// Runs `handler` inside the setter, before the caller's next statement: for user interfaces that follow one property. It also
  /// runs when a refresh brings changes of other writers, before the store's notifications, and when a cancelled write or an undone
  /// savepoint restores a value.
  ///
  /// ```swift
  /// token = dog.observe(\.age) { dog, change in print(change.oldValue, change.newValue) }
  /// ```
  ///
  /// Also for lists, sets and maps, and for `\.isInvalidated`. Setting an equal value is not a change. In a store the handler must
  /// not write: `.writeInObserver`. For everything else, use `observe(_:)` without a path.
  ///
  /// The path may lead over links, `\.best?.name`, and to a computed property. Reading the path shows which properties it depends
  /// on; if one of them or one of the links changes, the path is read again, at the cost of one read. A path over a list,
  /// `\.dogs.first?.name`, works too, at the cost of what it reads of the list. The value must be comparable. Whether an object
  /// exists can only be observed of the object itself.
  ///
  /// Of a deleted object only `\.isInvalidated` can be observed: otherwise the token is inactive, the handler is not called, and a
  /// warning is logged, as for a path that reads no property. `observe(_:)` with several paths throws instead.
  ///
  /// An unmanaged object is observed in the same way, and keeps its observers when it is added to a store. `add` is not a change;
  /// later settings are reported. Paths over links from an unmanaged object must be observed by name: see `observe(paths:)`.
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

/// Reports the changes of one property to one handler, and keeps the value last reported. Confined to the object's context.
final class PropertyNotifier<Root: Model, Property> {
  /// nil: whether the object exists, or the value at the end of a path.
  let ordinal: Int?
  let wantsPrior: Bool
  private let options: PropertyObservingOptions
  private let read: (Root) -> Property?
  private let handler: StoppableBlock<(Root, ObservedChange<Property>)>
  private var last: Property?
  /// Makes the managed object that was last reported again.
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

  /// Takes the first value as the one before the first change, and reports it at once with `.initial`.
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
    // Before the handler, which may set the property of an unmanaged object.
    if !isPrior { keep(now, of: object) }
    let change = ObservedChange(
      kind: kind.observed(), oldValue: options.contains(.old) ? old : nil,
      newValue: options.contains(.new) ? now : nil, isPrior: isPrior, indexes: indexes)
    handler.call((object, change))
  }

  func value(of object: Root) -> Property? { read(object) }

  /// The unmanaged object was added to a store.
  func enter(_ object: Root) { if remake == nil { keep(last, of: object) } }

  /// Keeps the value as the next old value. Not a collection: its old elements are not kept, and a live one would retain its store.
  /// Not an object either: the store has the observer until its first turn after the token's end, and a store without a context
  /// takes no turns.
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
  /// Call before a property of an object is set in this context.
  func willSet(_ key: Int64, _ ordinal: Int) {
    for observer in propertyObservers[key] ?? [] where observer.ordinal == ordinal {
      store.notifying { observer.willChange() }
    }
  }

  /// Call after a property of an object was set in this context.
  func didSet(_ key: Int64, _ ordinal: Int) {
    compare(key, ordinal)
    if properties[ordinal].schema.isRelationship { store.checkInverses(of: properties[ordinal].column) }
  }

  /// Notifies the observers of one property of one object if its value changed.
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

  /// Notifies the observers of properties of changed values, after more may have changed than a single setting.
  /// - Parameter touched: the objects that may have changed, besides derived properties; nil: any.
  func checkPropertyObservers(of touched: Set<ObjectPlace>? = nil) {
    guard observing.hasProperties else { return }
    observing.hasProperties = false
    observing.comparison.begin()
    defer { observing.comparison.end() }
    for context in allContexts {
      // Copies, because a handler may register and stop observers, also of later keys.
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

  /// Notifies the observers of the inverses of a relationship that was set in some object.
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

  /// Removes stopped observers.
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

  /// Rejects a call that the handler of a property must not make.
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
  /// A path leads over a property that is not a to-one link: a list, set or map, or a value.
  public static let notToOne = Self(rawValue: "notToOne")
}
