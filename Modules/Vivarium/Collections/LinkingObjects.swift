import QueryModel
import StorageInterface
import StoreValues

/// The objects whose relationship points to this one: the other end of a to-one link or a list. Live, computed
/// from the links, in the order of insertion; an object whose list holds this one twice comes twice.
///
/// A position outside is as with `Results`; of an unmanaged object's, which has none, it traps like an empty Array's.
public struct LinkingObjects<Element: Model>: RandomAccessCollection {
  /// nil: an unmanaged object, which nothing links to.
  let state: ResultsState?

  init(_ state: ResultsState?) { self.state = state }

  public var startIndex: Int { 0 }
  public var endIndex: Int { state?.keys().count ?? 0 }
  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }

  /// The object at a position; outside as with `Results`. The first access evaluates the links, each further one is O(1).
  public subscript(position: Int) -> Element {
    // Without a state there is no valid position: a mistake of the program, as with an empty Array.
    guard let state else { return [Element]()[position] }
    return Results(state)[position]
  }

  public func makeIterator() -> AnyIterator<Element> {
    guard let state else { return AnyIterator { nil } }
    return AnyIterator(Results<Element>(state).makeIterator())
  }

  /// The objects as they are now. O(n); empty for an unmanaged object.
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
  /// When the object that these point to is deleted, one last call deletes every row.
  public var _$source: ObservationSource<CollectionChange<LinkingObjects<Element>>> {
    guard let state else { return ObservationSource(unmanaged: .unmanagedCollection) }
    let source: ObservationSource<CollectionChange<Self>> = state.source { (results: Results<Element>) in Self(results.state) }
    // That the object is gone is looked for in the store's context alone.
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
  /// Of objects that point to one: that it is gone.
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
