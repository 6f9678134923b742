import QueryModel
import StorageInterface
import StoreValues

/// The objects with a relationship to this one: the inverse of a to-one link or a list. Live, computed from the links, in insertion
/// order; an object whose list has this one twice occurs twice.
///
/// A position out of bounds is handled as in `Results`. For an unmanaged object, which has no positions, it traps as in an empty
/// Array.
public struct LinkingObjects<Element: Model>: RandomAccessCollection {
  /// nil for an unmanaged object, which no object links to.
  let state: ResultsState?

  init(_ state: ResultsState?) { self.state = state }

  public var startIndex: Int { 0 }
  public var endIndex: Int { state?.keys().count ?? 0 }
  /// 0, because a walk may leave out elements, and code that reserves space by this number traps if there are fewer.
  public var underestimatedCount: Int { 0 }

  /// The object at a position; out of bounds as in `Results`. The first access evaluates the links, each further one is O(1).
  public subscript(position: Int) -> Element {
    // Without a state there is no valid position: a programming error, as with an empty Array.
    guard let state else { return [Element]()[position] }
    return Results(state)[position]
  }

  public func makeIterator() -> AnyIterator<Element> {
    guard let state else { return AnyIterator { nil } }
    return AnyIterator(Results<Element>(state).makeIterator())
  }

  /// The present objects. O(n); empty for an unmanaged object.
  public func toArray() -> [Element] { Array(self) }
}

extension LinkingObjects: InverseProperty {
  public typealias Origin = Element

  public static func _$inverse(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self {
    let context = raw.context
    let store = context.store
    let source: ResultsState.Source =
      context.properties[ordinal].origin.map { .sources(of: ObjectKey(key), through: $0) } ?? .nothing
    return Self(ResultsState(store, store.context(Element.self), Query(type: Element._$name), source))
  }

  public static var _$unmanaged: Self { Self(nil) }
}

extension LinkingObjects: StoreObservable {
  /// If the target object is deleted, one last call deletes every row.
  public var _$source: ObservationSource<CollectionChange<LinkingObjects<Element>>> {
    guard let state else { return ObservationSource(unmanaged: .unmanagedCollection) }
    let source: ObservationSource<CollectionChange<Self>> = state.source { (results: Results<Element>) in Self(results.state) }
    // Only the store's context may check whether the target is deleted.
    return ObservationSource(state.store, check: source.check) { request, block in
      guard state.error == nil, let fault = state.targetFault else { return source.start(request, block) }
      let gone = ResultsState(state.description, of: Element.self, in: state.store, fault: fault)
      return gone.source { (results: Results<Element>) in Self(results.state) }.start(request, block)
    } reference: { [source] in
      guard state.error == nil, let fault = state.targetFault else { return source.reference() }
      let description = state.description
      return { store in
        ResultsState(description, of: Element.self, in: store, fault: fault).source { (results: Results<Element>) in
          Self(results.state)
        }
      }
    }
  }
}

extension ResultsState {
  /// For an inverse: the error if its target is deleted.
  fileprivate var targetFault: StoreError? {
    guard case .sources(let target, let column) = source else { return nil }
    let catalog = store.reading.catalog
    guard let type = catalog[column]?.schema.target, let table = catalog[type]?.id else { return nil }
    do throws(StorageError) {
      return try store.reading.contains(table, target) ? nil : .objectDeleted(type: type, key: target.rawValue)
    } catch {
      return StoreError(error)
    }
  }
}
