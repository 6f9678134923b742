import ChangeTracker
import Notifications
import Storage
import Values

/// What an observer of one property wants to be told.
public struct ObservingOptions: OptionSet, Sendable {
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
  public enum Kind: Sendable, Hashable {
    /// The property has another value; of a list, other elements in a way that is none of the others; of a set or map, any.
    case setting
    /// Elements were put into a list, taken out of it, or replaced.
    case insertion, removal, replacement
  }

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
  /// property. It also runs when a refresh brings what others wrote, before the store's notifications, and when a cancelled
  /// write takes a value back.
  ///
  /// ```swift
  /// token = dog.observe(\.age) { dog, change in print(change.oldValue, change.newValue) }
  /// ```
  ///
  /// Also of lists, sets and maps, and of `\.isInvalidated`. An equal value is no change. In a store the handler must not write:
  /// `.writeInObserver`. Use `observe(_:)` without a path for everything else.
  ///
  /// An object that is in no store yet is observed in the same way, and goes into one with its observers: `add` is no change,
  /// and what is set from then on is told.
  public func observe<Property>(
    _ path: KeyPath<Self, Property>, options: ObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping (Self, ObservedChange<Property>) -> Void
  ) -> NotificationToken {
    let ordinal = Self.ordinal(of: path)
    guard ordinal != nil || path == \Self.isInvalidated else {
      StoreLog.warning("'\(path)' cannot be observed: it is no persisted property.")
      return .ended(fileID, line)
    }
    let teller = PropertyTeller(path, ordinal, options, handler)
    teller.begin(self)
    let end = ObserverEnd()
    if let context {
      context.observe(_$key, teller, end)
    } else {
      let observer = UnmanagedObserver(self, teller, end)
      if let observers = _$observers { observers.add(observer) } else { _$observers = UnmanagedObservers(observer) }
    }
    return NotificationToken(fileID: fileID, line: line) { end.stop() }
  }
}

/// Says to one handler what happened to one property, and keeps what it said last. Confined to the object's context.
final class PropertyTeller<Root: Model, Property> {
  let ordinal: Int?
  let wantsPrior: Bool
  private let path: KeyPath<Root, Property>
  private let options: ObservingOptions
  private let handler: (Root, ObservedChange<Property>) -> Void
  private let isCollection: Bool
  private var last: Property?

  init(
    _ path: KeyPath<Root, Property>, _ ordinal: Int?, _ options: ObservingOptions,
    _ handler: @escaping (Root, ObservedChange<Property>) -> Void
  ) {
    self.path = path
    self.ordinal = ordinal
    self.options = options
    self.handler = handler
    wantsPrior = options.contains(.prior)
    isCollection = ordinal.map { Root._$schema.properties[$0].isCollection } ?? false
  }

  /// The value that the first change leads from, which is told at once where that is wanted.
  func begin(_ object: Root) {
    let now = value(of: object)
    keep(now)
    guard options.contains(.initial) else { return }
    handler(
      object,
      ObservedChange(
        kind: .setting, oldValue: nil, newValue: options.contains(.new) ? now : nil, isPrior: false, indexes: []))
  }

  func tell(_ object: Root, _ kind: PropertyObserver.Kind, _ indexes: [Int], isPrior: Bool) {
    let (old, now) = (last, isPrior ? nil : value(of: object))
    // Before the handler, which may set the property of an object in no store.
    if !isPrior { keep(now) }
    handler(
      object,
      ObservedChange(
        kind: kind.told(), oldValue: options.contains(.old) ? old : nil,
        newValue: options.contains(.new) ? now : nil, isPrior: isPrior, indexes: indexes))
  }

  func value(of object: Root) -> Property { object[keyPath: path] }

  /// A collection has no value of its own, and a live one would keep its store.
  private func keep(_ value: Property?) { if !isCollection { last = value } }
}

extension PropertyObserver.Kind {
  fileprivate func told<P>() -> ObservedChange<P>.Kind {
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
      store.telling { observer.willChange() }
    }
  }

  /// After a property of an object was set here.
  func didSet(_ key: Int64, _ ordinal: Int) {
    for observer in propertyObservers[key] ?? [] where observer.ordinal == ordinal {
      store.telling { observer.check() }
    }
    if properties[ordinal].schema.isRelationship { store.checkInverses(of: properties[ordinal].column) }
  }
}

extension Store {
  /// Runs a handler that must not write.
  fileprivate func telling(_ body: () -> Void) {
    let wasTelling = isTellingPropertyObserver
    isTellingPropertyObserver = true
    defer { isTellingPropertyObserver = wasTelling }
    body()
  }

  /// Tells the observers of properties of what is different now, after more may have changed than what somebody set.
  /// - Parameter touched: the objects that may be different, beside derived properties; nil: any.
  func checkPropertyObservers(of touched: Set<ObjectPlace>? = nil) {
    guard hasPropertyObservers else { return }
    hasPropertyObservers = false
    for context in allContexts {
      // Copies: a handler may register and stop observers, of keys that come later too.
      for key in Array(context.propertyObservers.keys) {
        let isTouched = touched?.contains(ObjectPlace(table: context.table, key: key)) ?? true
        for observer in context.propertyObservers[key] ?? [] where isTouched || observer.isDerived {
          propertyCheckCount += 1
          telling { observer.check() }
        }
      }
    }
    endStoppedPropertyObservers()
  }

  /// Tells the observers of inverses that follow a relationship back, after it was set in some object.
  fileprivate func checkInverses(of column: ColumnID) {
    for context in allContexts where !context.propertyObservers.isEmpty {
      guard context.properties.contains(where: { $0.origin == column }) else { continue }
      for key in Array(context.propertyObservers.keys) {
        for observer in context.propertyObservers[key] ?? [] {
          guard let ordinal = observer.ordinal, context.properties[ordinal].origin == column else { continue }
          telling { observer.check() }
        }
      }
    }
  }

  /// Lets go of what was stopped.
  func endStoppedPropertyObservers() {
    hasPropertyObservers = false
    for context in allContexts where !context.propertyObservers.isEmpty {
      context.propertyObservers = context.propertyObservers.compactMapValues { observers in
        let active = observers.filter(\.end.isActive)
        return active.isEmpty ? nil : active
      }
      if !context.propertyObservers.isEmpty { hasPropertyObservers = true }
    }
  }

  /// Refuses what a handler of a property must not do.
  func refuseInObserver(_ what: @autoclosure () -> String) throws(StoreError) {
    guard isTellingPropertyObserver else { return }
    throw StoreError(
      .writeInObserver, "\(what()) was called by an observer of a property, inside the setter it observes.",
      remedy: "Write later, or observe the object, whose block may write.")
  }
}

extension StoreError.Code {
  /// An observer of a property tried to write.
  public static let writeInObserver = Self(rawValue: "writeInObserver")
}
