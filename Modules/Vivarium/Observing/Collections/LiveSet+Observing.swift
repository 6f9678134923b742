import Notifications

extension LiveSet where Element: PersistableElement & Hashable {
  /// Runs `block` on the store's context with the set once, and then with what changed, as positions in the order in which
  /// it is walked; `change.details` has the members. A member that went and came back is no change. Changes of objects in
  /// the set are modifications, as they are of results.
  ///
  /// ```swift
  /// token = post.tags.observe { change in show(change.details?.insertedMembers ?? []) }
  /// ```
  ///
  /// When the object that has the set is deleted, one last call deletes every member. The set must be in a store, and of an
  /// object that is there; else the block hears an error, `.objectDeleted` of one that is gone. Keep the token, and stop it in the end.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LiveSet<Element>>) -> Void
  ) -> NotificationToken {
    if case .store(let handle) = place {
      if let refused = handle.store.tokenElsewhere(fileID, line) { return refused }
      handle.store.bind(isolation)
    }
    return watch(elementProperties?.everything(), fileID, line, block)
  }

  /// The same, where only some properties of the objects in the set count; none of them for an empty list of names.
  /// `.unknownProperty` for what leads nowhere.
  public func observe(
    observingProperties names: [String], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LiveSet<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    var filter: ResultFilter?
    if case .store(let handle) = place { filter = try handle.begin(observing: names, of: Element._$elementTarget, isolation) }
    return watch(filter, fileID, line, block)
  }

  private var elementProperties: ObservedProperties? {
    guard case .store(let handle) = place else { return nil }
    return handle.elementProperties(of: Element._$elementTarget)
  }

  private func watch(
    _ filter: ResultFilter?, _ fileID: StaticString, _ line: UInt,
    _ block: @escaping (CollectionChange<LiveSet<Element>>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    return handle.observe(Element._$elementTarget, filter, fileID, line) { told, handle in
      block(CollectionChange(told, LiveSet(handle)))
    }
  }
}
