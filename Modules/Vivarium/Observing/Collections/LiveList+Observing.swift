import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

extension LiveList where Element: PersistableElement {
  /// Runs `block` on the store's context with the list once, and then with what changed. Equal elements keep their places
  /// apart: what moved or went is told by the edits. Changes of the objects in the list are modifications, as they
  /// are of results.
  ///
  /// When the object that has the list is deleted, one last call deletes every element. The list must be in a store, and of an
  /// object that is there; else the block hears an error, `.objectDeleted` of one that is gone. Keep the token, and stop it in the end.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LiveList<Element>>) -> Void
  ) -> NotificationToken {
    if case .store(let handle) = place {
      if let refused = handle.store.tokenElsewhere(fileID, line) { return refused }
      handle.store.bind(isolation)
    }
    return watch(elementProperties?.everything(), fileID, line, block)
  }

  /// The same, where only some properties of the objects in the list count: `["name", "owner.name"]`; none of them for an
  /// empty list of names. `.unknownProperty` for what leads nowhere.
  public func observe(
    observingProperties names: [String], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LiveList<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    var filter: ResultFilter?
    if case .store(let handle) = place { filter = try handle.begin(observing: names, of: Element._$elementTarget, isolation) }
    return watch(filter, fileID, line, block)
  }

  /// nil for a list of scalars.
  private var elementProperties: ObservedProperties? {
    guard case .store(let handle) = place else { return nil }
    return handle.elementProperties(of: Element._$elementTarget)
  }

  private func watch(
    _ filter: ResultFilter?, _ fileID: StaticString, _ line: UInt,
    _ block: @escaping (CollectionChange<LiveList<Element>>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    return handle.observe(Element._$elementTarget, filter, fileID, line) { told, handle in
      block(CollectionChange(told, LiveList(handle)))
    }
  }
}

extension CollectionChange {
  init(_ told: ListHandle.News, _ collection: @autoclosure () -> C) {
    switch told {
    case .initial: self = .initial(collection())
    case .error(let error): self = .error(error)
    case .update(let set, _, let details):
      self = .update(
        collection(), deletions: set.deletions, insertions: set.insertions, modifications: ChangedRows(set, details))
    }
  }
}
