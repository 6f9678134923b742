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

extension LiveMap: StoreObservable where Value: PersistableElement {
  /// Changes are reported by key. Those of objects that are values of the map are modifications of their keys.
  ///
  /// ```swift
  /// token = person.phones.observe { change in
  ///   if case .update(let phones, _, _, let keys) = change { for key in keys { show(key, phones[key]) } }
  /// }
  /// ```
  ///
  /// When the object that has the map is deleted, one last call deletes every key.
  public var _$source: ObservationSource<MapChange<Value>> {
    guard case .store(let handle) = place else { return ObservationSource(unmanaged: .unmanagedCollection) }
    return handle.source(of: Value._$elementTarget) {
      let known = KnownKeys()
      return { news, handle in known.change(news, LiveMap(handle)) }
    }
  }
}

/// The keys that an observer of a map knows: where all of it went, the record does not say which keys that were. Confined to the
/// store's context.
private final class KnownKeys {
  private var keys: Set<String> = []

  func change<V: PersistableElement>(_ news: ListHandle.News, _ map: LiveMap<V>) -> MapChange<V> {
    switch news {
    case .initial:
      keys = Set(map.keys)
      return .initial(map)
    case .error(let error): return .error(error)
    case .update(let set, let members, let details):
      var change = members
      if members.isEmpty, !set.isEmpty {
        let now = map.keys
        change.deleted = keys.subtracting(now).map { .string($0) }
        change.inserted = now.filter { !keys.contains($0) }.map { .string($0) }
        change.modified = now.filter { keys.contains($0) }.map { .string($0) }
      }
      let deletions = change.deleted.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      keys.subtract(deletions)
      keys.formUnion(change.inserted.keys)
      let modifications = ChangedKeys(change.modified.keys, ChangeDetails(details, from: details.fromVersion))
      return .update(map, deletions: deletions, insertions: change.inserted.keys, modifications: modifications)
    }
  }
}

extension [Value] {
  /// The strings among them.
  fileprivate var keys: [String] { compactMap { if case .string(let key) = $0 { key } else { nil } } }
}
