/// What results, lists, sets, inverses, and the entries of a map have in common: positions that count from 0, and observers. The
/// library's collections conform; `AnyStoreCollection` is any of them.
public protocol StoreCollection<Element>: RandomAccessCollection, StoreObservable
where Index == Int, ObservationChange == CollectionChange<Self> {}

extension Results: StoreCollection {}
extension LinkingObjects: StoreCollection {}
extension LiveList: StoreCollection where Element: PersistableElement {}
extension LiveSet: StoreCollection where Element: PersistableElement & Hashable {}
extension BoundResults: StoreCollection {}
extension FilteredResults: StoreCollection {}
extension ProjectedResults: StoreCollection {}
extension ValueResults: StoreCollection {}

/// Results of any kind, a list, a set, an inverse or a map, whichever it is: for what shows a collection and need not know where it
/// comes from.
///
/// ```swift
/// let shown: [AnyStoreCollection<Dog>] = [AnyStoreCollection(store.objects(Dog.self)), AnyStoreCollection(jane.dogs)]
/// ```
///
/// As live as what it was made of, and in the same context; reading and observing cost what they cost there.
public struct AnyStoreCollection<Element>: StoreCollection {
  private let base: any StoreCollection<Element>

  /// O(1).
  public init(_ collection: some StoreCollection<Element>) { base = collection }

  public var startIndex: Int { 0 }
  public var endIndex: Int { base.count }
  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }

  /// A position outside is what it is for the collection that this was made of.
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
  /// The entries of a map, in the order of the keys: changes are reported by position. O(1).
  public init<Value: PersistableElement>(_ map: LiveMap<Value>) where Element == (key: String, value: Value) {
    base = MapEntries(map: map)
  }
}

/// A map as what stands at positions.
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
