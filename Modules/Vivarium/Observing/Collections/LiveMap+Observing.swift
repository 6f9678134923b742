import ChangeTracker
import Notifications
import StoreValues

/// What an observer of a map hears.
public enum MapChange<Value> {
  /// The map as it is when it is first there: once, before everything else, never inside the call that observes.
  case initial(LiveMap<Value>)
  /// Keys that went, that came, and whose values are others, since the last call; each in the order of the keys, and none in
  /// two of them. A key that went and came back counts as modified.
  case update(LiveMap<Value>, deletions: [String], insertions: [String], modifications: ChangedKeys)
  /// The map cannot be kept any more. The last call.
  case error(StoreError)

  /// More about an update: the versions, who wrote, and where; nil for the others. Positions, identities and members are
  /// empty: the keys of the update say it all.
  public var details: ChangeDetails? {
    if case .update(_, _, _, let modifications) = self { modifications.details } else { nil }
  }
}

/// The keys of a map that stayed and have other values, in their order.
public struct ChangedKeys: RandomAccessCollection, Sendable, Hashable, ExpressibleByArrayLiteral {
  private let keys: [String]
  let details: ChangeDetails?

  init(_ keys: [String], _ details: ChangeDetails) {
    self.keys = keys
    self.details = details
  }

  /// For tests of code that takes changes of maps.
  public init(_ keys: [String]) {
    self.keys = keys
    details = nil
  }

  public init(arrayLiteral elements: String...) { self.init(elements) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { keys.count }
  /// One of the keys, by its place among them.
  public subscript(index: Int) -> String { keys[index] }

  public static func == (a: Self, b: Self) -> Bool { a.keys == b.keys }
  public func hash(into hasher: inout Hasher) { hasher.combine(keys) }
}

extension LiveMap where Value: PersistableElement {
  /// Runs `block` on the store's context with the map once, and then with the keys that changed. Changes of objects that are
  /// values of the map are modifications of their keys, as they are of results.
  ///
  /// ```swift
  /// token = person.phones.observe { change in
  ///   if case .update(let phones, _, _, let keys) = change { for key in keys { show(key, phones[key]) } }
  /// }
  /// ```
  ///
  /// When the object that has the map is deleted, one last call deletes every key. The map must be in a store, and of an
  /// object that is there; else the block hears an error, `.objectDeleted` of one that is gone. Keep the token, and stop it in the end.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (MapChange<Value>) -> Void
  ) -> NotificationToken {
    if case .store(let handle) = place {
      if let refused = handle.store.tokenElsewhere(fileID, line) { return refused }
      handle.store.bind(isolation)
    }
    return watch(elementProperties?.everything(), fileID, line, block)
  }

  /// The same, where only some properties of the objects in the map count; none of them for an empty list of names.
  /// `.unknownProperty` for what leads nowhere.
  public func observe(
    observingProperties names: [String], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ block: @escaping (MapChange<Value>) -> Void
  ) throws(StoreError) -> NotificationToken {
    var filter: ResultFilter?
    if case .store(let handle) = place { filter = try handle.begin(observing: names, of: Value._$elementTarget, isolation) }
    return watch(filter, fileID, line, block)
  }

  private var elementProperties: ObservedProperties? {
    guard case .store(let handle) = place else { return nil }
    return handle.elementProperties(of: Value._$elementTarget)
  }

  private func watch(
    _ filter: ResultFilter?, _ fileID: StaticString, _ line: UInt, _ block: @escaping (MapChange<Value>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    // What the observer knows: where all of it went, the record does not say which keys that were.
    var known: Set<String> = []
    return handle.observe(Value._$elementTarget, filter, fileID, line) { told, handle in
      let map = LiveMap(handle)
      switch told {
      case .initial:
        known = Set(map.keys)
        block(.initial(map))
      case .error(let error): block(.error(error))
      case .update(let set, let members, let details):
        var change = members
        if members.isEmpty, !set.isEmpty {
          let now = map.keys
          change.deleted = known.subtracting(now).map { .string($0) }
          change.inserted = now.filter { !known.contains($0) }.map { .string($0) }
          change.modified = now.filter { known.contains($0) }.map { .string($0) }
        }
        let deletions = change.deleted.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        known.subtract(deletions)
        known.formUnion(change.inserted.keys)
        let modifications = ChangedKeys(change.modified.keys, ChangeDetails(details, from: details.fromVersion))
        block(.update(map, deletions: deletions, insertions: change.inserted.keys, modifications: modifications))
      }
    }
  }
}

extension [Value] {
  /// The strings among them.
  fileprivate var keys: [String] { compactMap { if case .string(let key) = $0 { key } else { nil } } }
}
