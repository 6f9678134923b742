import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// Lists, sets and maps of an object are observed in one way; each says it in its own words.
extension ListHandle {
  /// What an observer of a collection is to be told.
  enum News {
    case initial
    case update(ChangeSet, ChangedMembers, ChangeDetails)
    case error(StoreError)
  }

  /// What can be observed of elements that are objects of a type; nil for scalars.
  func elementProperties(of target: String?) -> ObservedProperties? {
    target.flatMap { ObservedProperties($0, in: store) }
  }

  /// Which changes of elements count, by names of their properties; nil for scalars, which have none. `.unknownProperty`.
  private func elementFilter(of target: String?, only names: [String]) throws(StoreError) -> ResultFilter? {
    if let properties = elementProperties(of: target) { return try properties.only(names) }
    if let name = names.first {
      throw .unknownKeyPath(name, of: "\(context.schema.name).\(context.properties[ordinal].schema.name)")
    }
    return nil
  }

  /// An observation by names begins: in the store's context, which it has from now on. Which changes of elements count.
  func begin(
    observing names: [String], of target: String?, _ isolation: isolated (any Actor)?
  ) throws(StoreError) -> ResultFilter? {
    try store.checkContext("observe")
    store.bind(isolation)
    return try elementFilter(of: target, only: names)
  }

  /// The collection of the same object in another store of the context: a block must not keep the one it is observed by.
  private var remade: (Store) -> ListHandle {
    let (context, key, ordinal) = (context, key, ordinal)
    return { ListHandle(store: $0, context: context, key: key, ordinal: ordinal) }
  }

  /// Observes the collection, and changes of its elements by the filter. One whose object is gone hears that and nothing else.
  func observe(
    _ target: String?, _ elements: ResultFilter?, _ fileID: StaticString, _ line: UInt,
    _ block: @escaping (News, ListHandle) -> Void
  ) -> NotificationToken {
    let property = column.property
    let remade = remade
    let fail = { [unowned store = store] (error: StoreError) in block(.error(error), remade(store)) }
    do throws(StoreError) { try context.check(key) } catch {
      return store.add(
        WatchObserver(nil, StopFlag(), fault: error, tell: { _, _ in }, rebase: { _ in }, fail: fail), fileID, line)
    }
    let isList = context.properties[ordinal].schema.isList
    let members = NetMemberChanges(count: count, isMap: context.properties[ordinal].schema.isMap)
    let watch = ObjectWatch(
      .collection(property, elements: elements, of: target.flatMap { store.reading.catalog[$0]?.id } ?? TableID(0)),
      table: context.table, key: ObjectKey(key), at: store.snapshot.version,
      lists: isList ? [property: NetListChanges(count: count)] : [:], members: isList ? [:] : [property: members],
      store.deliveryPlace())
    let observer = WatchObserver(
      watch, StopFlag(),
      tell: { offer, store in
        func update(_ set: ChangeSet, _ members: ChangedMembers) {
          block(.update(set, members, ChangeDetails(offer, set, members, own: store.origin)), remade(store))
        }
        switch offer.content {
        case .initial: block(.initial, remade(store))
        case .failed(let error): block(.error(StoreError(error)), remade(store))
        case .deleted(let set): update(set, ChangedMembers())
        case .touched(_, _, let elements):
          if let found = elements[property], !found.positions.isEmpty { update(found.positions, found.members) }
        }
      }, rebase: { _ in }, fail: fail)
    return store.add(observer, fileID, line)
  }
}

extension NotificationToken {
  /// The token of an observation that was never one: its block was told why.
  static func ended(_ fileID: StaticString, _ line: UInt) -> NotificationToken {
    let token = NotificationToken(fileID: fileID, line: line) {}
    token.stop()
    return token
  }
}

extension StoreError {
  /// A collection that is in no store was observed.
  static let unmanagedCollection = StoreError(
    .wrongStore, "A collection that is in no store cannot be observed.", remedy: "Add its object to a store first.")
}
