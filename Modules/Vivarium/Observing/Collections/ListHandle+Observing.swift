import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// Observation shared by the lists, sets and maps of an object; each translates `News` to its own change type.
extension ListHandle {
  /// A change to report to the observer of a collection.
  enum News {
    case initial
    case update(WatchOffer.ElementsOffer, ChangeDetails)
    case error(StoreError)
  }

  /// The observable properties of elements that are objects; nil for scalars.
  func elementProperties(of target: String?) -> ObservedProperties? {
    target.flatMap { ObservedProperties($0, in: store) }
  }

  /// The element changes that count; nil for scalars, which have no properties. `.unknownProperty`.
  private func elementFilter(of target: String?, _ options: ObservationOptions) throws(StoreError) -> ResultFilter? {
    if let fault = options.fault { throw fault }
    if let properties = elementProperties(of: target) { return try properties.filter(options) }
    if let name = options.properties?.first ?? options.ignored.first {
      throw .unknownKeyPath(name, of: "\(context.schema.name).\(context.properties[ordinal].schema.name)")
    }
    return nil
  }

  /// The observation source of the collection. `news` translates its changes. `target` is the element type, if the elements are
  /// objects.
  func source<Change: StoreChange>(
    of target: String?, _ news: @escaping @Sendable () -> (News, ListHandle) -> Change
  ) -> ObservationSource<Change> {
    ObservationSource(store) { (options) throws(StoreError) in
      _ = try elementFilter(of: target, options)
    } start: { request, block in
      let change = news()
      return observe(target, request) { block(change($0, $1)) }
    } reference: {
      let (column, owner) = (column, ObjectKey(key))
      return {
        $0.list(column, of: owner).map { $0.source(of: target, news) } ?? ObservationSource(unmanaged: .unmanagedCollection)
      }
    }
  }

  /// Makes the handle of the same collection in another store of the context. A block must not retain the store that observes it.
  private var remade: (Store) -> ListHandle {
    let (context, key, ordinal) = (context, key, ordinal)
    return { ListHandle(store: $0, context: context, key: key, ordinal: ordinal) }
  }

  /// Observes the collection and the changes of its elements. If its object is deleted, reports that error only.
  private func observe(
    _ target: String?, _ request: ObservationRequest, _ block: @escaping (News, ListHandle) -> Void
  ) -> NotificationToken {
    let property = column.property
    let remade = remade
    let fail = { [unowned store = store] (error: StoreError) in block(.error(error), remade(store)) }
    let elements: ResultFilter?
    do throws(StoreError) {
      try context.check(key)
      elements = try elementFilter(of: target, request.options)
    } catch {
      return store.add(WatchObserver(nil, request, fault: error, notify: { _, _ in }, rebase: { _ in }, fail: fail), request)
    }
    let isList = context.properties[ordinal].schema.isList
    let members = NetMemberChanges(count: count, isMap: context.properties[ordinal].schema.isMap)
    let watch = ObjectWatch(
      .collection(property, elements: elements, of: target.flatMap { store.reading.catalog[$0]?.id } ?? TableID(0)),
      table: context.table, key: ObjectKey(key), at: store.snapshot.version,
      lists: isList ? [property: NetListChanges(count: count)] : [:], members: isList ? [:] : [property: members],
      store.deliveryPlace())
    let observer = WatchObserver(
      watch, request,
      notify: { offer, store in
        func update(_ found: WatchOffer.ElementsOffer) {
          block(.update(found, ChangeDetails(offer, found.positions, found.members, own: store.origin)), remade(store))
        }
        switch offer.content {
        case .initial: block(.initial, remade(store))
        case .failed(let error): block(.error(StoreError(error)), remade(store))
        case .deleted(let found): update(found ?? WatchOffer.ElementsOffer())
        case .touched(_, _, let elements):
          if let found = elements[property], !found.positions.isEmpty { update(found) }
        }
      }, rebase: { _ in }, fail: fail)
    return store.add(observer, request)
  }
}

extension LiveList: StoreObservable where Element: PersistableElement {
  /// Equal elements are told apart by their positions: the recorded edits show which one moved or was deleted. If the object with
  /// the list is deleted, one last call deletes every element.
  public var _$source: ObservationSource<CollectionChange<LiveList<Element>>> {
    guard case .store(let handle) = place else { return ObservationSource(unmanaged: .unmanagedCollection) }
    return handle.source(of: Element._$elementTarget) { { CollectionChange($0, LiveList($1)) } }
  }
}

extension LiveSet: StoreObservable where Element: PersistableElement & Hashable {
  /// Positions are those of the set's iteration order; `change.details` has the members. A member that was removed and inserted
  /// again is not a change. If the object with the set is deleted, one last call deletes every member.
  public var _$source: ObservationSource<CollectionChange<LiveSet<Element>>> {
    guard case .store(let handle) = place else { return ObservationSource(unmanaged: .unmanagedCollection) }
    return handle.source(of: Element._$elementTarget) { { CollectionChange($0, LiveSet($1)) } }
  }
}

extension CollectionChange {
  init(_ news: ListHandle.News, _ collection: @autoclosure () -> C) {
    switch news {
    case .initial: self = .initial(collection())
    case .error(let error): self = .error(error)
    case .update(let found, let details):
      let set = found.positions
      self = .update(
        collection(), deletions: set.deletions, insertions: set.insertions, modifications: ChangedRows(set, details))
    }
  }
}
