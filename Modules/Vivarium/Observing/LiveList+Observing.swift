import ChangeTracker
import Notifications
import Storage
import Values

extension LiveList where Element: PersistableElement {
  /// Runs `block` on the store's context with the list once, and then with what changed. Equal elements keep their places
  /// apart: what moved or went is told by the edits. Changes of the objects in the list are modifications, as they
  /// are of results.
  ///
  /// When the object that has the list is deleted, one last call deletes every element. The list must be in a store;
  /// else the block hears an error. Keep the token, and stop it in the end.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LiveList<Element>>) -> Void
  ) -> NotificationToken {
    if case .store(let handle) = place { handle.store.bind(isolation) }
    return watch(.success(elementProperties?.everything()), fileID, line, block)
  }

  /// The same, where only some properties of the objects in the list count: `["name", "owner.name"]`; none of them for an
  /// empty list of names. `.unknownProperty` for what leads nowhere.
  public func observe(
    observingProperties names: [String], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LiveList<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    if case .store(let handle) = place { handle.store.bind(isolation) }
    return watch(.success(try elementProperties?.only(names)), fileID, line, block)
  }

  /// nil for a list of scalars.
  private var elementProperties: ObservedProperties? {
    guard case .store(let handle) = place, let target = Element._$elementTarget else { return nil }
    return ObservedProperties(target, in: handle.store.reading.catalog)
  }

  private func watch(
    _ filter: Result<ResultFilter?, StoreError>, _ fileID: StaticString, _ line: UInt,
    _ block: @escaping (CollectionChange<LiveList<Element>>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      block(.error(StoreError(.wrongStore, "A list that is in no store cannot be observed.")))
      let token = NotificationToken(fileID: fileID, line: line) {}
      token.stop()
      return token
    }
    let (store, context, key, ordinal) = (handle.store, handle.context, handle.key, handle.ordinal)
    let property = handle.column.property
    let target = Element._$elementTarget.flatMap { store.reading.catalog[$0]?.id } ?? TableID(0)
    let elements = (try? filter.get()).flatMap { $0 }
    let watch = ObjectWatch(
      .list(property, elements: elements, of: target), table: context.table, key: ObjectKey(key),
      at: store.snapshot.version, counts: [property: handle.count], store.deliveryPlace())
    let list = { (store: Store) in
      LiveList(ListHandle(store: store, context: context, key: key, ordinal: ordinal))
    }
    let observer = WatchObserver(
      watch, StopFlag(),
      tell: { offer, store in
        func update(_ set: ChangeSet) {
          let rows = ChangedRows(set, ChangeDetails(set, from: offer.from, to: offer.to))
          block(.update(list(store), deletions: set.deletions, insertions: set.insertions, modifications: rows))
        }
        switch offer.content {
        case .initial: block(.initial(list(store)))
        case .failed(let error): block(.error(StoreError(error)))
        case .deleted(let set): update(set)
        case .touched(_, _, let lists):
          if let set = lists[property], !set.isEmpty { update(set) }
        }
      }, rebase: { _ in }, fail: { block(.error($0)) })
    return store.add(observer, fileID, line)
  }
}
