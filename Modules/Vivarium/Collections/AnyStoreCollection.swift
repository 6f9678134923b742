/// A collection with positions from 0 that can be observed: results, lists, sets, inverses, and the entries of a map. The library's
/// collections conform; `AnyStoreCollection` wraps any of them.
public protocol StoreCollection<Element>: PositionalCollection, StoreObservable where ObservationChange == CollectionChange<Self> {}

extension Results: StoreCollection {}
extension LinkingObjects: StoreCollection {}
extension LiveList: StoreCollection where Element: PersistableElement {}
extension LiveSet: StoreCollection where Element: PersistableElement & Hashable {}
extension BoundResults: StoreCollection {}
extension FilteredResults: StoreCollection {}
extension ProjectedResults: StoreCollection {}
extension ValueResults: StoreCollection {}

/// Any kind of results, list, set, inverse or map: for code that shows a collection and need not know its source.
///
/// ```swift
/// let shown: [AnyStoreCollection<Dog>] = [AnyStoreCollection(store.objects(Dog.self)), AnyStoreCollection(jane.dogs)]
/// ```
///
/// As live as the wrapped collection, and in the same context; reading and observing cost the same.
public struct AnyStoreCollection<Element>: StoreCollection {
  private let base: any StoreCollection<Element>

  /// O(1).
  public init(_ collection: some StoreCollection<Element>) { base = collection }

  public var startIndex: Int { 0 }
  public var endIndex: Int { base.count }
  /// 0, because a walk may leave out elements, and code that reserves space by this number traps if there are fewer.
  public var underestimatedCount: Int { 0 }

  /// A position out of bounds has the same effect as for the wrapped collection.
  public subscript(position: Int) -> Element { base[position] }

  public func makeIterator() -> AnyIterator<Element> { AnyStoreCollection.iterator(of: base) }

  /// A copy.
  public func toArray() -> [Element] { Array(self) }

  public var _$source: ObservationSource<CollectionChange<AnyStoreCollection<Element>>> {
    AnyStoreCollection.source(of: base)
  }

  private static func iterator<C: StoreCollection>(of base: C) -> AnyIterator<Element> where C.Element == Element {
    AnyIterator(base.makeIterator())
  }

  private static func source<C: StoreCollection>(
    of base: C
  ) -> ObservationSource<CollectionChange<AnyStoreCollection<Element>>> where C.Element == Element {
    base._$source.map { $0.map { AnyStoreCollection($0) } }
  }
}

extension AnyStoreCollection {
  /// Wraps the entries of a map, in key order; changes are reported by position. O(1).
  public init<Value: PersistableElement>(_ map: LiveMap<Value>) where Element == (key: String, value: Value) {
    base = MapEntries(map: map)
  }
}

/// A map as a collection with positions.
private struct MapEntries<Value: PersistableElement>: StoreCollection {
  let map: LiveMap<Value>

  var startIndex: Int { 0 }
  var endIndex: Int { map.count }
  var underestimatedCount: Int { 0 }
  subscript(position: Int) -> (key: String, value: Value) { map.entry(at: position) }
  func makeIterator() -> AnyIterator<(key: String, value: Value)> { AnyIterator(map.makeIterator()) }

  var _$source: ObservationSource<CollectionChange<MapEntries>> {
    guard let handle = map.handle else { return ObservationSource(unmanaged: .unmanagedCollection) }
    return handle.source(of: Value._$elementTarget) { { CollectionChange($0, MapEntries(map: LiveMap($1))) } }
  }
}
