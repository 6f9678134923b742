import Dispatch
import Notifications
import StorageInterface
import StoreValues

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
    handle.observe(
      on: queue, fileID, line, { LiveList($0).observe(isolation: nil, fileID: fileID, line: line, $1) }, block)
  }

  /// Observes the list on an actor, which the block is given: it may use the actor's state without waiting. Until the token is
  /// stopped the observation keeps the actor.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, CollectionChange<LiveList<Element>>) -> Void
  ) -> NotificationToken {
    handle.observe(
      on: actor, fileID, line, { LiveList($0).observe(isolation: nil, fileID: fileID, line: line, $1) }, block)
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
    handle.observe(
      on: queue, fileID, line, { LiveSet($0).observe(isolation: nil, fileID: fileID, line: line, $1) }, block)
  }

  /// Observes the set on an actor, which the block is given: it may use the actor's state without waiting. Until the token is
  /// stopped the observation keeps the actor.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, CollectionChange<LiveSet<Element>>) -> Void
  ) -> NotificationToken {
    handle.observe(
      on: actor, fileID, line, { LiveSet($0).observe(isolation: nil, fileID: fileID, line: line, $1) }, block)
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
    handle.observe(
      on: queue, fileID, line, { LiveMap($0).observe(isolation: nil, fileID: fileID, line: line, $1) }, block)
  }

  /// Observes the map on an actor, which the block is given: it may use the actor's state without waiting. Until the token is
  /// stopped the observation keeps the actor.
  public func observe<A: Actor>(
    on actor: A, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (isolated A, MapChange<Value>) -> Void
  ) -> NotificationToken {
    handle.observe(
      on: actor, fileID, line, { LiveMap($0).observe(isolation: nil, fileID: fileID, line: line, $1) }, block)
  }
}

extension LinkingObjects {
  /// Observes these objects on a serial queue, wherever the caller is, as `Results.observe(on:)` does.
  public func observe(
    on queue: DispatchQueue, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping @Sendable (CollectionChange<LinkingObjects<Element>>) -> Void
  ) -> NotificationToken {
    guard let results = observed else {
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
    guard let results = observed else {
      Task { await actor.hear(.error(.unmanagedCollection), block) }
      return .ended(fileID, line)
    }
    return results.observe(on: actor, fileID: fileID, line: line) { actor, change in block(actor, change.asLinkingObjects()) }
  }
}

/// What is told of a collection can say why there is nothing to tell.
private protocol CollectionNews: SendableMetatype {
  static func error(_ error: StoreError) -> Self
}

extension CollectionChange: CollectionNews {}
extension MapChange: CollectionNews {}

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

extension Optional<ListHandle> {
  /// Lets `begin` observe what a store of the queue has in this one's place; nothing can be observed in no store.
  fileprivate func observe<Change: CollectionNews>(
    on queue: DispatchQueue, _ fileID: StaticString, _ line: UInt,
    _ begin: (ListHandle, @escaping (Change) -> Void) -> NotificationToken,
    _ block: @escaping @Sendable (Change) -> Void
  ) -> NotificationToken {
    guard let handle = self else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: queue, fileID, line) { store in
      if let found = reference.handle(in: store) { return begin(found) { block($0) } }
      queue.async { block(.error(.unmanagedCollection)) }
      return .ended(fileID, line)
    } fail: { block(.error($0)) }
  }

  /// The same on an actor.
  fileprivate func observe<A: Actor, Change: CollectionNews>(
    on actor: A, _ fileID: StaticString, _ line: UInt,
    _ begin: (ListHandle, @escaping (Change) -> Void) -> NotificationToken,
    _ block: @escaping @Sendable (isolated A, Change) -> Void
  ) -> NotificationToken {
    guard let handle = self else {
      Task { await actor.hear(.error(.unmanagedCollection), block) }
      return .ended(fileID, line)
    }
    let reference = CollectionReference(handle)
    return handle.store.observe(on: actor, fileID, line) { store in
      if let found = reference.handle(in: store) { return begin(found) { actor.tell($0, block) } }
      Task { await actor.hear(.error(.unmanagedCollection), block) }
      return .ended(fileID, line)
    } fail: { actor, error in block(actor, .error(error)) }
  }
}

extension Actor {
  /// Tells a block of the actor why it hears nothing.
  fileprivate func hear<C>(_ change: sending C, _ block: @Sendable (isolated Self, C) -> Void) { block(self, change) }
}
