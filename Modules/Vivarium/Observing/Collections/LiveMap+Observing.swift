import ChangeTracker
import Notifications
import StoreValues

/// A change reported to the observer of a map.
public enum MapChange<Value> {
  /// The map in its first state: reported once, before everything else, never inside the call that observes.
  case initial(LiveMap<Value>)
  /// The deleted keys, the inserted keys, and the keys with changed values since the last call; each in key order and disjoint. A
  /// key that was removed and inserted again counts as modified.
  case update(LiveMap<Value>, deletions: [String], insertions: [String], modifications: ChangedKeys)
  /// The map cannot be kept any longer. The last call.
  case error(StoreError)

  /// More about an update: the versions, who wrote, and where; nil for the other cases. Positions, identities and members are
  /// empty, since the update's keys describe the change.
  public var details: ChangeDetails? {
    if case .update(_, _, _, let modifications) = self { modifications.details } else { nil }
  }
}

/// The keys of a map that remained and have changed values, in key order.
public struct ChangedKeys: RandomAccessCollection, Sendable, Hashable, ExpressibleByArrayLiteral {
  private let keys: [String]
  let details: ChangeDetails?

  init(_ keys: [String], _ details: ChangeDetails) {
    self.keys = keys
    self.details = details
  }

  /// Creates keys for tests of code that takes changes of maps.
  public init(_ keys: [String]) {
    self.keys = keys
    details = nil
  }

  public init(arrayLiteral elements: String...) { self.init(elements) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { keys.count }
  /// The key at a position in this collection.
  public subscript(index: Int) -> String { keys[index] }

  public static func == (a: Self, b: Self) -> Bool { a.keys == b.keys }
  public func hash(into hasher: inout Hasher) { hasher.combine(keys) }
}

extension LiveMap: StoreObservable where Value: PersistableElement {
  /// Reports changes by key. A change of an object that is a value of the map is a modification of its key.
  ///
  /// ```swift
  /// token = person.phones.observe { change in
  ///   if case .update(let phones, _, _, let keys) = change { for key in keys { show(key, phones[key]) } }
  /// }
  /// ```
  ///
  /// If the object with the map is deleted, one last call deletes every key.
  public var _$source: ObservationSource<MapChange<Value>> {
    guard case .store(let handle) = place else { return ObservationSource(unmanaged: .unmanagedCollection) }
    return handle.source(of: Value._$elementTarget) {
      let known = KnownKeys()
      return { news, handle in known.change(news, LiveMap(handle)) }
    }
  }
}

/// The keys known to the observer of a map, also from commits that skipped it. If the whole map was cleared, the commit record does
/// not name its keys. Confined to the store's context.
private final class KnownKeys {
  private var keys: Set<MapKey> = []

  func change<V: PersistableElement>(_ news: ListHandle.News, _ map: LiveMap<V>) -> MapChange<V> {
    switch news {
    case .initial:
      keys = Set(map.keys.map { MapKey($0) })
      return .initial(map)
    case .error(let error): return .error(error)
    case .update(let found, let details):
      for case (.string(let key), let isThere) in found.skippedKeys {
        if isThere { keys.insert(MapKey(key)) } else { keys.remove(MapKey(key)) }
      }
      var change = found.members
      if change.isEmpty, !found.positions.isEmpty {
        let now = map.keys.map { MapKey($0) }
        change.deleted = keys.subtracting(now).map { .string($0.text) }
        change.inserted = now.filter { !keys.contains($0) }.map { .string($0.text) }
        change.modified = now.filter { keys.contains($0) }.map { .string($0.text) }
      }
      let deletions = change.deleted.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      keys.subtract(deletions.map { MapKey($0) })
      keys.formUnion(change.inserted.keys.map { MapKey($0) })
      let modifications = ChangedKeys(change.modified.keys, ChangeDetails(details, from: details.fromVersion))
      return .update(map, deletions: deletions, insertions: change.inserted.keys, modifications: modifications)
    }
  }
}

extension [Value] {
  /// The elements that are strings.
  fileprivate var keys: [String] { compactMap { if case .string(let key) = $0 { key } else { nil } } }
}
