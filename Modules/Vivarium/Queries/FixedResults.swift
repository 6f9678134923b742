import ChangeTracker
import QueryModel
import StorageInterface
import StoreValues

/// The objects of a result at one moment, in their order at that moment; later writes do not change it. The objects themselves are
/// live: one deleted since is invalidated, but stays in its place.
///
/// Needs no evaluation and no copy if the result is observed. Confined to its store's context.
package struct FixedResults<Element: Model> {
  package let store: Store
  private let keys: KeySnapshot
  /// The results that define the order; nil for an empty list.
  private let state: ResultsState?
  /// The version the keys belong to; nil if a write had changed something.
  private let version: Version?

  private init(_ store: Store, _ keys: KeySnapshot, _ state: ResultsState?, _ version: Version?) {
    self.store = store
    self.keys = keys
    self.state = state
    self.version = version
  }

  /// The objects of `state` as they are now.
  init(_ state: ResultsState) {
    self.init(state.store, state.keys(), state, state.store.versionWithoutWrites)
  }

  /// Objects that had this order at an earlier moment.
  init(_ keys: [Int64], of state: ResultsState) { self.init(state.store, KeySnapshot(keys), state, nil) }

  /// No objects.
  static func none(in store: Store) -> Self { Self(store, .empty, nil, nil) }

  package var count: Int { keys.count }

  /// The object at a position; outside the bounds an object that is not in the store.
  package subscript(position: Int) -> Element { store.live(key(at: position)) }

  /// The object at a position, in the store's version, for any thread; during a write, in the version the write began from.
  package func frozen(at position: Int) -> Frozen<Element> { Frozen(ObjectKey(key(at: position)), store.sharedSnapshot()) }

  /// The object key at a position; outside the bounds 0, which no object has.
  package func key(at position: Int) -> Int64 { position >= 0 && position < keys.count ? keys[position] : 0 }

  /// Every key, in order. O(n).
  package var allKeys: [Int64] { keys.array }

  /// Calls `body` with every object and its position, in ascending key order, whatever the order of the results: in this order an
  /// engine reads many rows at a time. O(n log n).
  package func forEachByKey(_ body: (Element, Int) -> Void) {
    let keys = keys.array
    for row in keys.indices.sorted(by: { keys[$0] < keys[$1] }) { body(store.live(keys[row]), row) }
  }

  /// The position of an object. O(log n) if rows are ordered by their own values; O(n) for other queries, and for an object that is
  /// not found while the store reads another version than this one's.
  package func index(of object: Element) -> Int? {
    guard let state, object.context?.store.shared === store.shared else { return nil }
    if let place = state.place(of: object._$key, in: keys) {
      if let row = place.row { return row }
      if let version, version == store.versionWithoutWrites { return nil }
    }
    // The object's values are no longer those that determined its position.
    return keys.index(of: object._$key)
  }

  /// The current value at the end of a path from the object at a position; null if a link on the way is null.
  package func value(at path: PropertyPath, row: Int) -> Value {
    store.value(at: path, of: store.context(Element.self).table, ObjectKey(key(at: row)))
  }
}

extension Results {
  /// The objects as they are now.
  package var fixed: FixedResults<Element> { FixedResults(state) }
}

extension Store {
  /// The version that the store reads; nil if the open write has changed something.
  fileprivate var versionWithoutWrites: Version? { writer.unfinished?.isEmpty ?? true ? snapshot.version : nil }

  /// The value at the end of a path of names, over to-one links and over inverses to the first object that points here.
  fileprivate func value(at path: PropertyPath, of table: TableID, _ key: ObjectKey) -> Value {
    var (table, key) = (table, key)
    for (place, name) in path.components.enumerated() {
      guard let entry = reading.catalog[table], let column = entry[name] else { return .null }
      if case .linkingObjects(let origin, let property) = column.schema.kind {
        guard let source = reading.catalog[origin], let through = source[property],
          let first = reported(try reading.firstSource(of: key, through: source.column(through.id))) ?? nil
        else { return .null }
        (table, key) = (source.id, first)
        continue
      }
      let value = reported(try reading.value(entry.column(column.id), key)) ?? .null
      if place == path.components.count - 1 { return value }
      guard case .link(let next) = value, let target = column.schema.target.flatMap({ reading.catalog[$0]?.id }) else {
        return .null
      }
      (table, key) = (target, next)
    }
    return .null
  }
}
