import Dispatch
import Notifications
import Storage
import Values

// Lists, sets, maps and inverses are observed in another context like results: the block gets the collection of the same
// object as a store of that context has it.

extension LiveList where Element: PersistableElement & SendableMetatype {
  /// Observes the list on a serial queue, wherever the caller is: the block gets it as a store of that queue has it, to be used
  /// there. What is committed after this call is told. All else is as with `observe(_:)`.
  ///
  /// ```swift
  /// token = playlist.songs.observe(on: indexing) { change in index(change.collection) }
  /// ```
  public func observe(
    on queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (CollectionChange<LiveList<Element>>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: queue, fileID, line) { store in
      guard let found = reference.handle(in: store) else { return .told(fileID, line) { block(.error(.unmanagedCollection)) } }
      return LiveList(found).observe(isolation: nil, fileID: fileID, line: line) { block($0) }
    } fail: { block(.error($0)) }
  }

  /// Observes the list on an actor, which the block is given: it may use the actor's state without waiting. Until the token is
  /// stopped the observation keeps the actor.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, CollectionChange<LiveList<Element>>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      Task { await actor.hear(.error(.unmanagedCollection), block) }
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: actor, fileID, line) { actor, store in
      guard let found = reference.handle(in: store) else {
        return .told(fileID, line) { block(actor, .error(.unmanagedCollection)) }
      }
      return LiveList(found).observe(isolation: actor, fileID: fileID, line: line) { block(actor, $0) }
    } fail: { actor, error in block(actor, .error(error)) }
  }
}

extension LiveSet where Element: PersistableElement & Hashable & SendableMetatype {
  /// Observes the set on a serial queue, wherever the caller is: the block gets it as a store of that queue has it, to be used
  /// there. What is committed after this call is told. All else is as with `observe(_:)`.
  ///
  /// ```swift
  /// token = post.tags.observe(on: indexing) { change in index(change.collection) }
  /// ```
  public func observe(
    on queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (CollectionChange<LiveSet<Element>>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: queue, fileID, line) { store in
      guard let found = reference.handle(in: store) else { return .told(fileID, line) { block(.error(.unmanagedCollection)) } }
      return LiveSet(found).observe(isolation: nil, fileID: fileID, line: line) { block($0) }
    } fail: { block(.error($0)) }
  }

  /// Observes the set on an actor, which the block is given: it may use the actor's state without waiting. Until the token is
  /// stopped the observation keeps the actor.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, CollectionChange<LiveSet<Element>>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      Task { await actor.hear(.error(.unmanagedCollection), block) }
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: actor, fileID, line) { actor, store in
      guard let found = reference.handle(in: store) else {
        return .told(fileID, line) { block(actor, .error(.unmanagedCollection)) }
      }
      return LiveSet(found).observe(isolation: actor, fileID: fileID, line: line) { block(actor, $0) }
    } fail: { actor, error in block(actor, .error(error)) }
  }
}

extension LiveMap where Value: PersistableElement & SendableMetatype {
  /// Observes the map on a serial queue, wherever the caller is: the block gets it as a store of that queue has it, to be used
  /// there. What is committed after this call is told. All else is as with `observe(_:)`.
  ///
  /// ```swift
  /// token = person.phones.observe(on: dialling) { change in dial(change) }
  /// ```
  public func observe(
    on queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (MapChange<Value>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: queue, fileID, line) { store in
      guard let found = reference.handle(in: store) else { return .told(fileID, line) { block(.error(.unmanagedCollection)) } }
      return LiveMap(found).observe(isolation: nil, fileID: fileID, line: line) { block($0) }
    } fail: { block(.error($0)) }
  }

  /// Observes the map on an actor, which the block is given: it may use the actor's state without waiting. Until the token is
  /// stopped the observation keeps the actor.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, MapChange<Value>) -> Void
  ) -> NotificationToken {
    guard case .store(let handle) = place else {
      Task { await actor.hear(.error(.unmanagedCollection), block) }
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: actor, fileID, line) { actor, store in
      guard let found = reference.handle(in: store) else {
        return .told(fileID, line) { block(actor, .error(.unmanagedCollection)) }
      }
      return LiveMap(found).observe(isolation: actor, fileID: fileID, line: line) { block(actor, $0) }
    } fail: { actor, error in block(actor, .error(error)) }
  }
}

extension LinkingObjects {
  /// Observes these objects on a serial queue, wherever the caller is, as `Results.observe(on:)` does.
  public func observe(
    on queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (CollectionChange<LinkingObjects<Element>>) -> Void
  ) -> NotificationToken {
    guard let results else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    return results.observe(on: queue, fileID: fileID, line: line) { block($0.asLinkingObjects()) }
  }

  /// Observes these objects on an actor, which the block is given.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, CollectionChange<LinkingObjects<Element>>) -> Void
  ) -> NotificationToken {
    guard let results else {
      Task { await actor.hear(.error(.unmanagedCollection), block) }
      return .ended(fileID, line)
    }
    return results.observe(on: actor, fileID: fileID, line: line) { actor, change in block(actor, change.asLinkingObjects()) }
  }
}

/// A collection of an object, to be found in any store of the file.
private struct CollectionReference: Sendable {
  private let column: ColumnID
  private let owner: ObjectKey

  init(_ handle: ListHandle) {
    column = handle.column
    owner = ObjectKey(handle.key)
  }

  func handle(in store: Store) -> ListHandle? { store.list(column, of: owner) }
}

extension Actor {
  /// Tells a block of the actor why it hears nothing.
  fileprivate func hear<C>(_ change: sending C, _ block: @Sendable (isolated Self, C) -> Void) { block(self, change) }
}

extension NotificationToken {
  /// The token of an observation that was never one, once its block was told.
  fileprivate static func told(_ fileID: StaticString, _ line: UInt, _ tell: () -> Void) -> NotificationToken {
    tell()
    return .ended(fileID, line)
  }
}
