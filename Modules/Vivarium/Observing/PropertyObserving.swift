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
  /// Also of lists, and of `\.isInvalidated`. An equal value is no change. The handler must not write:
  /// `.writeInObserver`. The object must be in a store. Use `observe(_:)` without a path for everything else.
  public func observe<Property>(
    _ path: KeyPath<Self, Property>, options: ObservingOptions = [.old, .new],
    fileID: StaticString = #fileID, line: UInt = #line,
    _ handler: @escaping (Self, ObservedChange<Property>) -> Void
  ) -> NotificationToken {
    let ordinal = Self.ordinal(of: path)
    guard let context, ordinal != nil || path == \Self.isInvalidated else {
      StoreLog.warning("'\(path)' cannot be observed: it is no persisted property, or the object is in no store.")
      let token = NotificationToken(fileID: fileID, line: line) {}
      token.stop()
      return token
    }
    let key = _$key
    var last: Property? = self[keyPath: path]
    // The context has the observer, and with it this.
    let tell = { [unowned context] (kind: ObservedChange<Property>.Kind, indexes: [Int], isPrior: Bool) in
      // Remade, so that the store does not keep itself.
      let object: Self = context.store.live(key)
      let now = isPrior ? last : object[keyPath: path]
      let isCollection = ordinal.map { context.properties[$0].schema.isCollection } ?? false
      handler(
        object,
        ObservedChange(
          kind: kind, oldValue: options.contains(.old) && !isCollection ? last : nil,
          newValue: options.contains(.new) && !isPrior ? now : nil, isPrior: isPrior, indexes: indexes))
      last = now
    }
    if options.contains(.initial) {
      handler(
        self,
        ObservedChange(
          kind: .setting, oldValue: nil, newValue: options.contains(.new) ? last : nil, isPrior: false, indexes: []))
    }
    let observer = PropertyObserver(
      context, key, ordinal, isToOne: Property.self is any ToOneInverse.Type, wantsPrior: options.contains(.prior)
    ) { kind, indexes, isPrior in
      switch kind {
      case .setting: tell(.setting, indexes, isPrior)
      case .insertion: tell(.insertion, indexes, isPrior)
      case .removal: tell(.removal, indexes, isPrior)
      case .replacement: tell(.replacement, indexes, isPrior)
      }
    }
    context.propertyObservers[key, default: []].append(observer)
    context.store.hasPropertyObservers = true
    let (flag, stops, anchor) = (observer.flag, context.store.watchStops, StoreAnchor(context.store))
    return NotificationToken(fileID: fileID, line: line) {
      flag.stop()
      stops.raise()
      StoreAnchor.release(anchor)
    }
  }
}

/// One observer of one property of one object. Confined to the store's context.
final class PropertyObserver {
  enum Kind { case setting, insertion, removal, replacement }

  let flag = StopFlag()
  /// nil: whether the object is there.
  let ordinal: Int?
  let wantsPrior: Bool
  /// Of an inverse, only the first object that points here counts.
  private let isToOne: Bool
  private unowned let context: ModelContext
  private let key: Int64
  private let tell: (Kind, [Int], _ isPrior: Bool) -> Void
  private var lives = true
  /// The value it was told last; of a list, its elements.
  private var known: [Value] = []
  /// Whether a call before a change was made, after which there is one in any case.
  private var isAnnounced = false

  init(
    _ context: ModelContext, _ key: Int64, _ ordinal: Int?, isToOne: Bool, wantsPrior: Bool,
    _ tell: @escaping (Kind, [Int], _ isPrior: Bool) -> Void
  ) {
    self.context = context
    self.key = key
    self.ordinal = ordinal
    self.isToOne = isToOne
    self.wantsPrior = wantsPrior
    self.tell = tell
    lives = context.lives(key)
    known = value
  }

  private var value: [Value] {
    guard let ordinal, lives else { return [] }
    let property = context.properties[ordinal]
    if let origin = property.origin {
      var sources: [Value] = []
      try? context.store.reading.sources(of: ObjectKey(key), through: origin) { block in
        for source in (isToOne ? block.prefix(1) : block[...]) { sources.append(.link(ObjectKey(source))) }
        return isToOne ? .stop : .proceed
      }
      return sources
    }
    if property.schema.isScalar { return [context.value(key, ordinal)] }
    if property.schema.isMap {
      let entries = try? context.store.reading.entries(property.column, ObjectKey(key), 0..<Int.max)
      return entries?.flatMap { [.string($0.key), $0.value] } ?? []
    }
    if property.schema.isCollection {
      return (try? context.store.reading.values(property.column, ObjectKey(key), 0..<Int.max)) ?? []
    }
    return []
  }

  func willChange() {
    guard wantsPrior, flag.isActive else { return }
    isAnnounced = true
    tell(.setting, [], true)
  }

  /// Compares with what the observer knows, and tells it of a difference.
  func check() {
    guard flag.isActive else { return }
    let livedBefore = lives
    lives = context.lives(key)
    guard let ordinal else {
      if lives != livedBefore { tell(.setting, [], false) }
      return
    }
    // Of an object that is gone there is nothing to say.
    guard lives else { return }
    let old = known
    known = value
    let wasAnnounced = isAnnounced
    isAnnounced = false
    if old == known, !wasAnnounced { return }
    guard context.properties[ordinal].schema.isList else { return tell(.setting, [], false) }
    let (kind, indexes) = PropertyObserver.compare(old, known)
    tell(kind, indexes, false)
  }

  private static func compare(_ old: [Value], _ new: [Value]) -> (Kind, [Int]) {
    if old.count == new.count { return (.replacement, new.indices.filter { old[$0] != new[$0] }) }
    var (insertions, removals): ([Int], [Int]) = ([], [])
    for change in new.difference(from: old) {
      switch change {
      case .insert(let offset, _, _): insertions.append(offset)
      case .remove(let offset, _, _): removals.append(offset)
      }
    }
    if removals.isEmpty { return (.insertion, insertions.sorted()) }
    if insertions.isEmpty { return (.removal, removals.sorted()) }
    return (.setting, [])
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
  func checkPropertyObservers() {
    guard hasPropertyObservers else { return }
    hasPropertyObservers = false
    for context in allContexts {
      // Copies: a handler may register and stop observers, of keys that come later too.
      for key in Array(context.propertyObservers.keys) {
        for observer in context.propertyObservers[key] ?? [] { telling { observer.check() } }
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
        let active = observers.filter(\.flag.isActive)
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
